void histogram(const unsigned char pixels[4096], unsigned counts[256])
{
  for (int i = 0; i < 4096; i++)
    counts[pixels[i]]++;
}
