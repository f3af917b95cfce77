/* No header is included here, since macros of the source that follows may change what headers declare.

   TVMFFIAny: an argument or a result. */
typedef struct {
  int kind;
  unsigned length;
  union {
    long long integer;
    double real;
    void *pointer;
  } value;
} polydl_argument;

/* DLTensor: an array and how it lies in memory. */
typedef struct {
  void *data;
  int device, device_number;
  int dimensions;
  unsigned char code, bits;
  unsigned short lanes;
  const long long *extents, *strides;
  unsigned long long offset;
} polydl_tensor;

enum { POLYDL_INTEGER = 1, POLYDL_BOOLEAN = 2, POLYDL_REAL = 3, POLYDL_TENSOR_POINTER = 7, POLYDL_TENSOR_OBJECT = 70 };
enum { POLYDL_CPU = 1, POLYDL_OBJECT_BYTES = 24, POLYDL_TEXT_BYTES = 160 };

/* Looked up when there is an error, so that nothing has to be linked for it. */
void *dlsym(void *, const char *) __attribute__((weak));

static int polydl_raise(const char *kind, const char *name, const char *problem)
{
  char message[4 * POLYDL_TEXT_BYTES];
  void (*raise)(const char *, const char *) = 0;
  if (dlsym) {
    *(void **)&raise = dlsym(0, "TVMFFIErrorSetRaisedFromCStr");
  }
  if (raise) {
    __builtin_snprintf(message, sizeof message, "%s %s", name, problem);
    raise(kind, message);
  }
  return -1;
}

/* A type as NumPy writes it. */
static const char *polydl_type(char *text, int code, int bits)
{
  static const char *const names[] = {"int", "uint", "float", "handle", "bfloat", "complex", "bool"};
  const char *name = code < (int)(sizeof names / sizeof *names) ? names[code] : "type";
  __builtin_snprintf(text, POLYDL_TEXT_BYTES, code == 6 ? "%s" : "%s%d", name, bits);
  return text;
}

/* A shape as Python writes it, cut off where it has very many dimensions. */
static const char *polydl_shape(char *text, int dimensions, const long long *extents)
{
  char *next = text;
  char *const end = text + POLYDL_TEXT_BYTES - 24;
  next += __builtin_sprintf(next, "(");
  for (int i = 0; i < dimensions && next < end; ++i) {
    next += __builtin_sprintf(next, i ? ", %lld" : "%lld", extents[i]);
  }
  __builtin_sprintf(next, dimensions == 1 ? ",)" : ")");
  return text;
}

/* The tensor that an argument is; 0 after an error. */
__attribute__((unused))
static const polydl_tensor *polydl_tensor_of(const polydl_argument *argument, const char *name)
{
  const polydl_tensor *tensor = argument->value.pointer;
  if (argument->kind == POLYDL_TENSOR_OBJECT) {
    return (const polydl_tensor *)((const char *)tensor + POLYDL_OBJECT_BYTES);
  }
  if (argument->kind != POLYDL_TENSOR_POINTER) {
    polydl_raise("TypeError", name, "must be a tensor");
    return 0;
  }
  return tensor;
}

/* Whether a tensor is in the memory of the CPU and holds elements of a type. */
__attribute__((unused))
static int polydl_holds(const polydl_tensor *tensor, const char *name, int code, int bits)
{
  char problem[3 * POLYDL_TEXT_BYTES], one[POLYDL_TEXT_BYTES], other[POLYDL_TEXT_BYTES];
  if (tensor->device != POLYDL_CPU) {
    polydl_raise("ValueError", name, "must be in the memory of the CPU");
    return 0;
  }
  if (tensor->code != code || tensor->bits != bits || tensor->lanes != 1) {
    __builtin_snprintf(problem, sizeof problem, "holds %s and must hold %s",
                       polydl_type(one, tensor->code, tensor->bits), polydl_type(other, code, bits));
    polydl_raise("TypeError", name, problem);
    return 0;
  }
  return 1;
}

/* What stands for the elements of a tensor without any: frameworks have no memory for these. */
static long long polydl_no_elements[8];

/* The elements of a tensor, if they are C-contiguous and aligned; 0 after an error. */
__attribute__((unused))
static void *polydl_contiguous(const polydl_tensor *tensor, const char *name, int alignment)
{
  int contiguous = 1;
  long long stride = 1;
  for (int i = 0; i < tensor->dimensions; ++i) {
    if (!tensor->extents[i]) {
      return polydl_no_elements;
    }
  }
  for (int i = tensor->dimensions - 1; i >= 0; --i) {
    contiguous = contiguous && (!tensor->strides || tensor->extents[i] == 1 || tensor->strides[i] == stride);
    stride *= tensor->extents[i];
  }
  if (!contiguous) {
    polydl_raise("ValueError", name, "must be C-contiguous");
    return 0;
  }
  if (!tensor->data) {
    polydl_raise("ValueError", name, "has no memory");
    return 0;
  }
  char *data = (char *)tensor->data + tensor->offset;
  if ((__UINTPTR_TYPE__)data % (__UINTPTR_TYPE__)alignment) {
    polydl_raise("ValueError", name, "has elements at misaligned addresses");
    return 0;
  }
  return data;
}

/* The elements of a C-contiguous tensor in the memory of the CPU; 0 after an error. */
__attribute__((unused))
static void *polydl_elements(const polydl_argument *argument, const char *name, int code, int bits, int alignment,
                             int dimensions, const long long *extents)
{
  char problem[3 * POLYDL_TEXT_BYTES], one[POLYDL_TEXT_BYTES], other[POLYDL_TEXT_BYTES];
  const polydl_tensor *tensor = polydl_tensor_of(argument, name);
  if (!tensor || !polydl_holds(tensor, name, code, bits)) {
    return 0;
  }
  /* A pointer to one element takes a tensor without dimensions, too. */
  int same = tensor->dimensions == dimensions || (tensor->dimensions == 0 && dimensions == 1 && extents[0] == 1);
  for (int i = tensor->dimensions - 1; same && i >= 0; --i) {
    same = tensor->extents[i] == extents[i];
  }
  if (!same) {
    __builtin_snprintf(problem, sizeof problem, "has shape %s and must have %s",
                       polydl_shape(one, tensor->dimensions, tensor->extents), polydl_shape(other, dimensions, extents));
    polydl_raise("ValueError", name, problem);
    return 0;
  }
  return polydl_contiguous(tensor, name, alignment);
}

/* The same for an array of any shape with at least so many elements. */
__attribute__((unused))
static void *polydl_at_least(const polydl_argument *argument, const char *name, int code, int bits, int alignment,
                             long long elements)
{
  char problem[POLYDL_TEXT_BYTES];
  const polydl_tensor *tensor = polydl_tensor_of(argument, name);
  if (!tensor || !polydl_holds(tensor, name, code, bits)) {
    return 0;
  }
  long long count = 1;
  for (int i = 0; i < tensor->dimensions; ++i) {
    count *= tensor->extents[i];
  }
  if (count < elements) {
    __builtin_snprintf(problem, sizeof problem, "has %lld elements and must have at least %lld", count, elements);
    polydl_raise("ValueError", name, problem);
    return 0;
  }
  return polydl_contiguous(tensor, name, alignment);
}

/* The size that a tensor tells: its extent along one of so many dimensions is `factor` times it and `more`.
   -1 after an error. */
__attribute__((unused))
static long long polydl_size(const polydl_argument *argument, const char *name, int dimensions, int dimension,
                             long long factor, long long more, long long most)
{
  char problem[POLYDL_TEXT_BYTES];
  const polydl_tensor *tensor = polydl_tensor_of(argument, name);
  if (!tensor) {
    return -1;
  }
  if (tensor->dimensions != dimensions) {
    __builtin_snprintf(problem, sizeof problem, "has %d dimensions and must have %d", tensor->dimensions, dimensions);
    polydl_raise("ValueError", name, problem);
    return -1;
  }
  long long size = (tensor->extents[dimension] - more) / factor;
  if (size < 0 || size > most) {
    __builtin_snprintf(problem, sizeof problem, "is too %s along dimension %d", size < 0 ? "short" : "long", dimension);
    polydl_raise("ValueError", name, problem);
    return -1;
  }
  return size;
}

__attribute__((unused))
static int polydl_integer(const polydl_argument *argument, const char *name, long long least, long long most,
                          long long *value)
{
  char problem[POLYDL_TEXT_BYTES];
  if (argument->kind != POLYDL_INTEGER && argument->kind != POLYDL_BOOLEAN) {
    return polydl_raise("TypeError", name, "must be an integer");
  }
  *value = argument->value.integer;
  if (*value < least || *value > most) {
    const char *const form = least == most ? "is %lld and must be %lld" : "is %lld and must be %lld to %lld";
    __builtin_snprintf(problem, sizeof problem, form, *value, least, most);
    return polydl_raise("ValueError", name, problem);
  }
  return 0;
}

__attribute__((unused))
static int polydl_real(const polydl_argument *argument, const char *name, double *value)
{
  if (argument->kind == POLYDL_REAL) {
    *value = argument->value.real;
    return 0;
  }
  *value = (double)argument->value.integer;
  return argument->kind == POLYDL_INTEGER ? 0 : polydl_raise("TypeError", name, "must be a number");
}

__attribute__((unused))
static int polydl_disjoint(const void *written, long long bytes, const void *other, long long other_bytes,
                           const char *name)
{
  __UINTPTR_TYPE__ first = (__UINTPTR_TYPE__)written, second = (__UINTPTR_TYPE__)other;
  int apart = bytes <= 0 || other_bytes <= 0 || first + bytes <= second || second + other_bytes <= first;
  return apart ? 0 : polydl_raise("ValueError", name, "is written and shares memory with another argument");
}

/* What a function returns that returns nothing. */
static int polydl_none(polydl_argument *result)
{
  result->kind = 0;
  result->length = 0;
  result->value.integer = 0;
  return 0;
}
