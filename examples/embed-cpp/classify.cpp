//===-- classify.cpp - a C++ program that runs a compiled network ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   classify network.om picture.npy...
//
// prints for each picture the class with the highest score and that score. Works with every network
// that has one float32 input and one float32 output.

#include <openatc/om.hpp>

#include <algorithm>
#include <fstream>
#include <iostream>

/// Reads the elements of a .npy file into `buffer`.
static bool readNumbers(const std::string &path, om::Buffer &buffer) {
  std::ifstream file(path, std::ios::binary);
  unsigned char start[10];
  if (!file.read(reinterpret_cast<char *>(start), sizeof(start)))
    return false;
  file.seekg(start[8] + 256 * start[9], std::ios::cur);
  return bool(file.read(buffer.data<char>(), static_cast<std::streamsize>(buffer.size())));
}

int main(int argc, char **argv) {
  if (argc < 3) {
    std::cerr << "usage: " << argv[0] << " network.om picture.npy...\n";
    return 2;
  }
  om::Error error;
  om::Model model = om::Model::loadFile(argv[1], error);
  if (!model) {
    std::cerr << error.message() << "\n";
    return 1;
  }
  om::Session session(model, error);
  if (!session) {
    std::cerr << error.message() << "\n";
    return 1;
  }
  std::vector<om::Tensor> ins = model.inputs(), outs = model.outputs();
  if (ins.size() != 1 || outs.size() != 1 || ins[0].dtype != OM_F32 || outs[0].dtype != OM_F32) {
    std::cerr << argv[1] << " has not one float32 input and one float32 output\n";
    return 1;
  }

  om::Buffer picture(ins[0].bytes), scores(outs[0].bytes);
  const void *inputs[] = {picture.data()};
  void *outputs[] = {scores.data()};
  for (int i = 2; i < argc; ++i) {
    if (!readNumbers(argv[i], picture)) {
      std::cerr << argv[i] << " has fewer numbers than '" << ins[0].name << "'\n";
      return 1;
    }
    if (!session.run(inputs, outputs, error)) {
      std::cerr << error.message() << "\n";
      return 1;
    }
    const float *first = scores.data<float>();
    const float *best = std::max_element(first, first + outs[0].elements);
    std::cout << best - first << " " << *best << "\n";
  }
  return 0;
}
