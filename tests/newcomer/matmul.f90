subroutine matmul(a, b, c, n)
  integer, intent(in) :: n
  real, intent(in) :: a(n, n), b(n, n)
  real, intent(inout) :: c(n, n)
  integer :: i, j, k
  do j = 1, n
    do k = 1, n
      do i = 1, n
        c(i, j) = c(i, j) + a(i, k) * b(k, j)
      end do
    end do
  end do
end subroutine
