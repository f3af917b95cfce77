"""Nests for which isl finds new orders, and one of those orders."""

from __future__ import annotations

from polydl.variants.rewrites.reschedule import Reschedule

# Each kind of statement that isl's schedules bring: several in a time step, one updated in place, one with fewer loops
# than the others, and triangles.
JACOBI = """
void f(double A[400], double B[400]) {
#pragma scop
  for (int t = 0; t < 40; t++) {
    for (int i = 1; i < 399; i++)
      B[i] = 0.33 * (A[i - 1] + A[i] + A[i + 1]);
    for (int i = 1; i < 399; i++)
      A[i] = 0.33 * (B[i - 1] + B[i] + B[i + 1]);
  }
#pragma endscop
}
"""
# Larger than the first cache, so that it is tiled on one thread, too.
SEIDEL = """
void f(float A[70][110]) {
#pragma scop
  for (int t = 0; t < 20; t++)
    for (int i = 1; i < 69; i++)
      for (int j = 1; j < 109; j++)
        A[i][j] = (A[i - 1][j] + A[i][j - 1] + A[i][j] + A[i][j + 1] + A[i + 1][j]) / 5.0f;
#pragma endscop
}
"""
FDTD = """
void f(float x[70][90], float y[70][90], float h[70][90], float edge[20]) {
#pragma scop
  for (int t = 0; t < 20; t++) {
    for (int j = 0; j < 90; j++)
      y[0][j] = edge[t];
    for (int i = 1; i < 70; i++)
      for (int j = 0; j < 90; j++)
        y[i][j] = y[i][j] - 0.5f * (h[i][j] - h[i - 1][j]);
    for (int i = 0; i < 70; i++)
      for (int j = 1; j < 90; j++)
        x[i][j] = x[i][j] - 0.5f * (h[i][j] - h[i][j - 1]);
    for (int i = 0; i < 69; i++)
      for (int j = 0; j < 89; j++)
        h[i][j] = h[i][j] - 0.7f * (x[i][j + 1] - x[i][j] + y[i + 1][j] - y[i][j]);
  }
#pragma endscop
}
"""
LU = """
void f(double A[90][90]) {
#pragma scop
  for (int i = 0; i < 90; i++) {
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++)
        A[i][j] -= A[i][k] * A[k][j];
      A[i][j] /= A[j][j];
    }
    for (int j = i; j < 90; j++)
      for (int k = 0; k < i; k++)
        A[i][j] -= A[i][k] * A[k][j];
  }
#pragma endscop
}
"""
# The largest of terms by four statements, of which some read the results of others in the same row (RNA folding).
NUSSINOV = """
void f(signed char b[140], int t[140][140]) {
#pragma scop
  for (int i = 139; i >= 0; i--)
    for (int j = i + 1; j < 140; j++) {
      t[i][j] = t[i][j] >= t[i][j - 1] ? t[i][j] : t[i][j - 1];
      if (i + 1 < 140)
        t[i][j] = t[i][j] >= t[i + 1][j] ? t[i][j] : t[i + 1][j];
      if (i < j - 1)
        t[i][j] = t[i][j] >= t[i + 1][j - 1] + (b[i] + b[j] == 3) ? t[i][j] : t[i + 1][j - 1] + (b[i] + b[j] == 3);
      for (int k = i + 1; k < j; k++)
        t[i][j] = t[i][j] >= t[i][k] + t[k + 1][j] ? t[i][j] : t[i][k] + t[k + 1][j];
    }
#pragma endscop
}
"""
PRODUCT = """
void f(float C[96][96], float A[96][96], float B[96][96]) {
#pragma scop
  for (int i = 0; i < 96; i++)
    for (int j = 0; j < 96; j++) {
      C[i][j] = 0.0f;
      for (int k = 0; k < 96; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
#pragma endscop
}
"""
STENCILS = {"jacobi": JACOBI, "seidel": SEIDEL, "fdtd": FDTD, "lu": LU}
STEP = Reschedule(("S0", "S1"), ("t", "i"), (((1, 0, 0), (2, 1, 0)), ((1, 0, 0), (2, 1, 1))), (8, 64), wavefront=True)
