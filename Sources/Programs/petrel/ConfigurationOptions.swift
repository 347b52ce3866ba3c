import CommandInterface
import Configuration
import Foundation
import Settings

/// The options by which a command is told the server's configuration.
enum ConfigurationOptions {
  static let all = [ServeCommand.dataOption, configOption] + ofSettings

  static let configOption = Arguments.Option(
    "config", "FILE",
    "the configuration (default PETREL_CONFIG, or server.json in the data directory)")

  private static let ofSettings = SettingOption.all.map {
    Arguments.Option($0.name, $0.valueName, $0.help, words: $0.words)
  }

  /// The options that say where the store is.
  static let ofStore =
    [ServeCommand.dataOption, configOption] + ofSettings.filter { $0.name == "store" }

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
    for option in SettingOption.all {
      guard let text = arguments.string(option.name) else { continue }
      if let complaint = sources.set(option, to: text) {
        throw UsageError("--\(option.name) \(complaint)")
      }
    }
  }
}
