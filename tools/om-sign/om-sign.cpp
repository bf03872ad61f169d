//===-- om-sign.cpp - makes keys, signs .om files, checks signatures ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "support/Interruption.h"
#include "tools/common/CommandLine.h"
#include "tools/om-sign/Signing.h"

#include <CLI/CLI.hpp>

using namespace atc;
using namespace atc::tools;

int main(int argc, char **argv) {
  atc::endInOrder("om-sign");
  std::string keyPath, model, output;
  CLI::App app("Signs .om files with Ed25519, so that a loader can require a signature.");
  app.set_version_flag("--version", std::string("om-sign ") + om_version());
  app.require_subcommand(1);
  CLI::App *keygen =
      app.add_subcommand("keygen", "make a key pair: KEY (secret, mode 0600) and KEY.pub");
  keygen->add_option("KEY", keyPath, "path of the new secret key; nothing is replaced")->required();
  CLI::App *sign = app.add_subcommand("sign", "sign a model; replaces a signature it has");
  sign->add_option("model", model, "the .om file")->required();
  sign->add_option("--key", keyPath, "the secret key")->required()->type_name("FILE");
  sign->add_option("-o,--output", output, "write here instead of replacing the model")
      ->type_name("FILE");
  CLI::App *verify = app.add_subcommand("verify", "check a model's signature and all its digests");
  verify->add_option("model", model, "the .om file")->required();
  verify->add_option("--key", keyPath, "the public key")->required()->type_name("FILE");
  app.footer("Exit code: 0 when done or when the signature is good, 1 otherwise, with one coded "
             "line.\nExample: om-sign keygen vendor && om-sign sign net.om --key vendor && "
             "om-sign verify net.om --key vendor.pub");
  if (std::optional<int> code = parseCommandLine(app, "om-sign", argc, argv))
    return *code;

  std::string error;
  bool done = false;
  if (*keygen)
    done = makeKeys(keyPath, error);
  else if (*sign)
    done = signFile(model, output.empty() ? model : output, keyPath, error);
  else {
    om_public_key key;
    om_error errorText;
    if (om_trust_read_key(keyPath.c_str(), &key, &errorText) != OM_OK)
      error = (errorText.code == OM_ERROR_IO ? "E13001: " : "E13005: ") +
              std::string(errorText.message);
    else if ((done = verifyFile(model, key, error)))
      print(stdout, "the signature of '%s' is good\n", model.c_str());
  }
  if (!done)
    print(stderr, "%s\n", oneLine(error).c_str());
  return finishOutput(done ? 0 : 1);
}
