#define SIZE 16
float a[SIZE];
// expect: NoScopError | line - | no function
