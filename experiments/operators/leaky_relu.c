/* Leaky ReLU */
void leaky_relu(float y[65536], const float x[65536])
{
  for (int i = 0; i < 65536; i++)
    y[i] = x[i] > 0 ? x[i] : 0.01f * x[i];
}
