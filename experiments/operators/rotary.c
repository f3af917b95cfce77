/* Rotary embeddings, in place */
void rotary(float x[128][32][64], const float cosine[128][32], const float sine[128][32])
{
  for (int t = 0; t < 128; t++)
    for (int h = 0; h < 32; h++)
      for (int d = 0; d < 32; d++) {
        float a = x[t][h][d], b = x[t][h][d + 32];
        x[t][h][d] = a * cosine[t][d] - b * sine[t][d];
        x[t][h][d + 32] = a * sine[t][d] + b * cosine[t][d];
      }
}
