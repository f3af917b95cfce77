/* Shortest paths: the iteration j = k writes what all others of j read. */
void paths(int path[50][50])
{
#pragma scop
  for (int k = 0; k < 50; k++)
    for (int i = 0; i < 50; i++)
      for (int j = 0; j < 50; j++)
        path[i][j] = path[i][j] < path[i][k] + path[k][j] ? path[i][j] : path[i][k] + path[k][j];
#pragma endscop
}
