"""C nests of every kind, whose generated variants are compiled and run."""

from __future__ import annotations

NESTS = {
    "product with initialisation": """
#define N 50
#define M 37
#define K 41
void f(float C[N][M], float A[N][K], float B[K][M]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      C[i][j] = 0;
      for (int k = 0; k < K; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
#pragma endscop
}
""",
    "product summed in a local scalar": """
#define N 33
void f(double C[N][N], double A[N][N], double B[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      double sum = 0;
      for (int k = 0; k < N; k++)
        sum += A[i][k] * B[k][j];
      C[i][j] = sum;
    }
#pragma endscop
}
""",
    "strided and dilated convolution": """
#define P 9
#define Q 8
void f(float out[2][P][Q][32], float flt[3][3][20][32], float in[2][2 * P + 4][2 * Q + 4][20]) {
#pragma scop
  for (int n = 0; n < 2; n++)
    for (int p = 0; p < P; p++)
      for (int q = 0; q < Q; q++)
        for (int r = 0; r < 3; r++)
          for (int s = 0; s < 3; s++)
            for (int k = 0; k < 32; k++)
              for (int c = 0; c < 20; c++)
                out[n][p][q][k] += flt[r][s][c][k] * in[n][2 * p + 2 * r][2 * q + 2 * s][c];
#pragma endscop
}
""",
    "plain layout": """
void f(float out[2][12][10][18], const float flt[12][7][3][3], const float in[2][7][12][20]) {
#pragma scop
  for (int n = 0; n < 2; n++)
    for (int k = 0; k < 12; k++)
      for (int c = 0; c < 7; c++)
        for (int y = 0; y < 10; y++)
          for (int x = 0; x < 18; x++)
            for (int r = 0; r < 3; r++)
              for (int s = 0; s < 3; s++)
                out[n][k][y][x] += flt[k][c][r][s] * in[n][c][y + r][x + s];
#pragma endscop
}
""",
    "bytes into integers": """
#include <stdint.h>
void f(int32_t C[24][40], int8_t A[24][30], int8_t B[30][40]) {
#pragma scop
  for (int i = 0; i < 24; i++)
    for (int j = 0; j < 40; j++)
      for (int k = 0; k < 30; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
""",
    "stencil in time": """
void f(float A[40][50], float B[40][50]) {
#pragma scop
  for (int t = 0; t < 4; t++) {
    for (int i = 1; i < 39; i++)
      for (int j = 1; j < 49; j++)
        B[i][j] = 0.2f * (A[i][j] + A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1]);
    for (int i = 1; i < 39; i++)
      for (int j = 1; j < 49; j++)
        A[i][j] = B[i][j];
  }
#pragma endscop
}
""",
    "sweep that depends on its neighbours": """
void f(float A[30][31]) {
#pragma scop
  for (int i = 1; i < 30; i++)
    for (int j = 1; j < 30; j++)
      A[i][j] = 0.5f * (A[i - 1][j + 1] + A[i][j - 1]);
#pragma endscop
}
""",
    "normalisation, calls and a condition": """
#include <math.h>
void f(float y[3][8][70], float x[3][8][70], float s[8], float b[8], float eps) {
#pragma scop
  for (int n = 0; n < 3; n++)
    for (int c = 0; c < 8; c++)
      for (int i = 0; i < 70; i++) {
        float t = x[n][c][i] * s[c] + b[c];
        y[n][c][i] = t > 0 ? t : expf(t) - eps;
      }
  for (int n = 0; n < 3; n++)
    for (int c = 0; c < 8; c++)
      for (int i = 0; i < 70; i++)
        if (i >= c)
          y[n][c][i] = fmaxf(y[n][c][i], -0.5f);
#pragma endscop
}
""",
    "convolution that skips rows of padding": """
void f(float out[2][7][6][32], const float flt[5][3][20][32], const float in[2][7][8][20]) {
#pragma scop
  for (int n = 0; n < 2; n++)
    for (int i = 0; i < 7; i++)
      for (int j = 0; j < 6; j++)
        for (int m = 0; m < 32; m++)
          out[n][i][j][m] = 0;
  for (int n = 0; n < 2; n++)
    for (int i = 0; i < 7; i++)
      for (int r = 0; r < 5; r++)
        if (i + r >= 2 && i + r < 9)
          for (int s = 0; s < 3; s++)
            for (int j = 0; j < 6; j++)
              for (int c = 0; c < 20; c++)
                for (int m = 0; m < 32; m++)
                  out[n][i][j][m] += flt[r][s][c][m] * in[n][i + r - 2][j + s][c];
#pragma endscop
}
""",
    "triangle of blocks": """
void f(double C[4][40][24], const double A[4][4][40][16], const double B[4][16][24]) {
#pragma scop
  for (int it = 0; it < 4; it++)
    for (int kt = 0; kt <= it; kt++)
      for (int i = 0; i < 40; i++)
        for (int k = 0; k < 16; k++)
          for (int j = 0; j < 24; j++)
            C[it][i][j] += A[it][kt][i][k] * B[kt][k][j];
#pragma endscop
}
""",
    "triangular solve, backwards": """
void f(double x[40], double L[40][40], double b[40]) {
#pragma scop
  for (int i = 39; i >= 0; i--) {
    x[i] = b[i];
    for (int j = i + 1; j < 40; j++)
      x[i] = x[i] - L[i][j] * x[j];
  }
#pragma endscop
}
""",
    "divisions and steps": """
void f(float out[32][33], float in[16][33]) {
#pragma scop
  for (int i = 0; i < 32; i++)
    for (int j = 0; j < 33; j += 2)
      out[i][j] = in[i / 2][j] + (float)i;
#pragma endscop
}
""",
    "a local array and a value that is used later": """
void f(float out[30][20], float in[30][21]) {
#pragma scop
  for (int i = 0; i < 30; i++) {
    float row[20];
    float last;
    for (int j = 0; j < 20; j++)
      row[j] = in[i][j] * in[i][j + 1];
    last = row[19];
    for (int j = 0; j < 20; j++)
      out[i][j] = row[19 - j] + last * row[j];
  }
#pragma endscop
}
""",
    "depthwise convolution with bias and activation": """
#include <math.h>
void f(float y[2][9][10][24], const float x[2][11][12][24], const float w[3][3][24], const float b[24]) {
#pragma scop
  for (int n = 0; n < 2; ++n)
    for (int i = 0; i < 9; ++i)
      for (int j = 0; j < 10; ++j)
        for (int c = 0; c < 24; ++c) {
          float sum = b[c];
          for (int r = 0; r < 3; ++r)
            for (int s = 0; s < 3; ++s)
              sum += x[n][i + r][j + s][c] * w[r][s][c];
          y[n][i][j][c] = fmaxf(sum, 0.0f);
        }
#pragma endscop
}
""",
    "softmax": """
#include <math.h>
void f(float y[20][60], float x[20][60]) {
#pragma scop
  for (int i = 0; i < 20; i++) {
    float most = x[i][0];
    for (int j = 1; j < 60; j++)
      most = fmaxf(most, x[i][j]);
    float sum = 0;
    for (int j = 0; j < 60; j++) {
      y[i][j] = expf(x[i][j] - most);
      sum += y[i][j];
    }
    for (int j = 0; j < 60; j++)
      y[i][j] = y[i][j] / sum;
  }
#pragma endscop
}
""",
    "conversions that change values": """
void f(int z[30][20], int w[30][20], float out[30][25], float a[30][20], float b[20][25], int sum[20]) {
#pragma scop
  for (int i = 0; i < 30; i++)
    for (int j = 0; j < 20; j++) {
      int half = w[i][j] * 0.5;
      z[i][j] = half * 3;
    }
  for (int i = 0; i < 30; i++)
    for (int j = 0; j < 25; j++)
      for (int k = 0; k < 20; k++)
        out[i][j] += (int)(100 * a[i][k]) * b[k][j];
  for (int i = 0; i < 30; i++)
    for (int j = 0; j < 20; j++)
      sum[j] += 100.0f * a[i][j] - 50.0f;
#pragma endscop
}
""",
    "hand-tiled loops of a static function": """
static void f(double C[40][24], double A[40][32], double B[32][24]) {
  for (int i_t1 = 0; i_t1 < 5; i_t1++)
    for (int k_t2 = 0; k_t2 < 2; k_t2++)
      for (int j = 0; j < 24; j++)
        for (int i = 0; i < 8; i++)
          for (int k = 0; k < 16; k++)
            C[8 * i_t1 + i][j] += A[8 * i_t1 + i][16 * k_t2 + k] * B[16 * k_t2 + k][j];
}
""",
    "a chain of values": """
void f(unsigned out[40], unsigned in[40]) {
#pragma scop
  for (int i = 0; i < 40; i++) {
    unsigned a = in[i] * 7;
    unsigned b = a ^ (a >> 3);
    unsigned c = b ^ (b << 5);
    unsigned d = c ^ (c >> 7);
    unsigned e = d ^ (d << 9);
    unsigned g = e ^ (e >> 11);
    out[i] = g ^ (g << 2);
  }
#pragma endscop
}
""",
    "marked calls": """
static void product(const float *a, const float *b, float *c, int skip) {
  for (int i = skip; i < 8; ++i)
    for (int j = 0; j < 8; ++j)
      for (int k = 0; k < 8; ++k)
        c[i * 48 + j] += a[i * 40 + k] * b[k * 48 + j];
}
void f(float C[64][48], float A[64][40], float B[40][48]) {
#pragma scop
  for (int it = 0; it < 8; ++it)
    for (int jt = 5; jt >= 0; --jt)
      for (int kt = 0; kt < 5; ++kt) {
#pragma polydl microkernel(for (int i = 0; i < 8; ++i) for (int j = 0; j < 8; ++j) for (int k = 0; k < 8; ++k) \\
          C[8 * it + i][8 * jt + j] += A[8 * it + i][8 * kt + k] * B[8 * kt + k][8 * jt + j];)
        product(&A[8 * it][8 * kt], &B[8 * kt][8 * jt], &C[8 * it][8 * jt], 0);
      }
#pragma endscop
}
""",
    "global arrays and a linear subscript": """
static float table[20][24];
void f(float *out, int n) {
#pragma scop
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < n; j++) {
      table[i][j] = table[i][j] * 2;
      out[24 * i + j] += table[i][j];
    }
#pragma endscop
}
""",
    "quotients and remainders of counters": """
void f(float out[2 * 9 + 1][3 * 16 + 2], float in[9 + 2][16 + 2], int seen[52]) {
#pragma scop
  for (int y = 0; y < 2 * 9 + 1; y++)
    for (int x = 0; x < 3 * 16 + 2; x++) {
      float fy = 0.5f * (y % 2), fx = (x % 3) / 3.0f;
      out[y][x] = (1 - fy) * ((1 - fx) * in[y / 2][x / 3] + fx * in[y / 2][x / 3 + 1]) +
                  fy * ((1 - fx) * in[y / 2 + 1][x / 3] + fx * in[y / 2 + 1][x / 3 + 1]);
    }
  for (int x = -3; x < 49; x++)
    seen[x + 3] = 7 * ((x + 3) / 4) - (48 - x) % 2;
#pragma endscop
}
""",
}
