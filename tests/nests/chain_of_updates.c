// Assignments as values of assignments that compute.
void chain_of_updates(float a[20], double b[20], float c[20], int d[20], const float e[20])
{
  for (int i = 0; i < 20; ++i) {
    a[i] += c[i] *= e[i];
    b[i] = a[i] -= c[i] + 1;
    b[i] /= d[i] = 2 * i + 3;
  }
}
