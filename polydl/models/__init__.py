"""Whole models: a graph of operators becomes one C function that calls a kernel for each, with its buffers planned.

Nothing here knows where a graph comes from: ``polydl.torch`` makes one of a PyTorch model, and ``polydl.onnx`` of
an ONNX file.
"""
