// Counters with names that mean something else to isl.
void nest(float max[5][4], const float floor[5][4], int mod, double or[4])
{
  int Not;
  for (Not = 0; Not < 2; ++Not)
    or[Not] = mod;
#pragma scop
  for (int min = 0; min < 5; ++min)
    for (int exists = min; exists < 4; ++exists)
      max[min][exists] += floor[min][exists] * mod;
  for (int min = 0; min < 2; ++min)
    for (Not = 0; Not <= min; ++Not)
      or[min + Not] += max[min][Not];
#pragma endscop
}
