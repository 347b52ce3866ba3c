import Foundation
import JSONCoding
import PetrelServer

/// The options by which a command is told the server's configuration.
enum ConfigurationOptions {
  static let all: [Arguments.Option] = [
    ServeCommand.dataOption,
    .init(
      "config", "FILE",
      "the configuration (default PETREL_CONFIG, or server.json in the data directory)"),
    .init("address", "ADDRESS", "where to listen (default 127.0.0.1)"),
    .init("port", "PORT", "0 lets the system choose (default 8080)"),
    .init("public-url", "URL", "the URL that clients use, where it differs"),
    .init("log-level", "LEVEL", "debug, info, warning or error (default info)"),
    .init("log-format", "FORMAT", "text or json (default text)"),
  ]

  /// The configuration that file, environment variables and flags make, and where it comes from.
  static func configuration(
    _ arguments: Arguments
  ) throws -> (configuration: ServerConfiguration, sources: ConfigurationSources) {
    let environment = ProcessInfo.processInfo.environment
    let directory = ServeCommand.dataDirectory(arguments)
    let named = arguments.string("config") ?? environment["PETREL_CONFIG"]
    let file = named ?? directory + "/server.json"
    var sources =
      if named != nil || FileManager.default.fileExists(atPath: file) {
        try ConfigurationSources(fileAt: file)
      } else {
        ConfigurationSources(directory: directory)
      }
    try sources.read(environment: environment)
    for (flag, key) in [
      ("address", "address"), ("public-url", "publicURL"), ("log-level", "logLevel"),
      ("log-format", "logFormat"),
    ] {
      guard let value = arguments.string(flag) else { continue }
      sources.set([key], to: .string(value), by: .flag("--" + flag))
    }
    if let port = try arguments.int("port", in: 0...65_535) {
      sources.set(["port"], to: .int(Int64(port)), by: .flag("--port"))
    }
    var configuration = ServerConfiguration(dataDirectory: directory)
    try sources.apply(to: &configuration)
    return (configuration, sources)
  }
}
