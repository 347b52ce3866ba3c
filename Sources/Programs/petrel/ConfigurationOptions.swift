import CommandInterface
import Foundation
import JSONCoding
import PetrelServer

/// The options by which a command is told the server's configuration.
enum ConfigurationOptions {
  static let all: [Arguments.Option] = [
    ServeCommand.dataOption, configOption, storeOption,
    .init("address", "ADDRESS", "where to listen (default 127.0.0.1)"),
    .init("port", "PORT", "0 lets the system choose (default 8080)"),
    .init("public-url", "URL", "the URL that clients use, where it differs"),
    .init(
      "log-level", "LEVEL", "debug, info, warning or error (default info)",
      words: ServerLog.Level.allCases.map(\.rawValue)),
    .init(
      "log-format", "FORMAT", "text or json (default text)",
      words: ServerLog.Format.allCases.map(\.rawValue)),
  ]

  static let configOption = Arguments.Option(
    "config", "FILE",
    "the configuration (default PETREL_CONFIG, or server.json in the data directory)")

  static let storeOption = Arguments.Option(
    "store", "URL", "the PostgreSQL that has the store (default a file in the data directory)")

  /// What tells a command where the store is.
  static let ofStore = [ServeCommand.dataOption, configOption, storeOption]

  /// The configuration that file, environment variables and flags make, and where it comes from.
  ///
  /// - Parameter files: whether the files that it names are looked at too, as by a server that starts.
  /// - Throws: ``ConfigurationMistakes`` with all that is wrong; ``UsageError`` for flags that cannot
  ///   be.
  static func configuration(
    _ arguments: Arguments, files: Bool = false
  ) throws -> (configuration: ServerConfiguration, sources: ConfigurationSources) {
    let (configuration, sources, mistakes) = try readWhatCan(arguments)
    let inFiles = files ? configuration.fileMistakes(from: sources) : []
    if let mistakes = ConfigurationMistakes(mistakes + inFiles) { throw mistakes }
    return (configuration, sources)
  }

  /// The same as far as it goes, and all that is wrong.
  ///
  /// - Throws: ``UsageError`` for flags that cannot be.
  static func readWhatCan(
    _ arguments: Arguments
  ) throws -> (ServerConfiguration, ConfigurationSources, [ConfigurationError]) {
    var sources = ConfigurationSources(directory: directory(arguments))
    var mistakes: [ConfigurationError] = []
    do throws(ConfigurationError) {
      if let read = try file(arguments) { sources = read }
    } catch {
      mistakes.append(error)
    }
    mistakes += sources.readWhatCan(environment: ProcessInfo.processInfo.environment)
    try setFlags(arguments, in: &sources)
    var configuration = ServerConfiguration(dataDirectory: directory(arguments))
    mistakes += sources.applyWhatCan(to: &configuration)
    return (configuration, sources, mistakes)
  }

  private static func directory(_ arguments: Arguments) -> String {
    ServeCommand.dataDirectory(arguments)
  }

  /// What the configuration file has; nil when there is none and none is named.
  private static func file(
    _ arguments: Arguments
  ) throws(ConfigurationError) -> ConfigurationSources? {
    let named =
      arguments.string("config") ?? ProcessInfo.processInfo.environment["PETREL_CONFIG"]
    let file = named ?? directory(arguments) + "/server.json"
    guard named != nil || FileManager.default.fileExists(atPath: file) else { return nil }
    return try ConfigurationSources(fileAt: file)
  }

  private static func setFlags(
    _ arguments: Arguments, in sources: inout ConfigurationSources
  ) throws {
    for (flag, key) in [
      ("address", "address"), ("public-url", "publicURL"), ("log-level", "logLevel"),
      ("log-format", "logFormat"), ("store", "store"),
    ] {
      guard let value = arguments.string(flag) else { continue }
      // The flag goes over what a file of the configuration names.
      if key == "store" { sources.set(["storeFile"], to: .null, by: .flag("--" + flag)) }
      sources.set([key], to: .string(value), by: .flag("--" + flag))
    }
    if let port = try arguments.int("port", in: 0...65_535) {
      sources.set(["port"], to: .int(Int64(port)), by: .flag("--port"))
    }
  }
}
