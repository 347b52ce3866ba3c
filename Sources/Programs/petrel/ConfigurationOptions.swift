import CommandInterface
import Configuration
import Foundation
import Settings

/// The options that set the server's configuration, and the functions that read the configuration.
///
/// A value comes from the first of these sources that has it: an option, an environment variable,
/// the configuration file, the default.
enum ConfigurationOptions {
  static let all = [ServeCommand.dataOption, configOption] + ofSettings

  static let configOption = Arguments.Option(
    "config", "FILE",
    "the configuration (default PETREL_CONFIG, or server.json in the data directory)")

  private static let ofSettings = SettingOption.all.map {
    Arguments.Option($0.name, $0.valueName, $0.help, words: $0.words)
  }

  static let ofStore =
    [ServeCommand.dataOption, configOption] + ofSettings.filter { $0.name == "store" }

  /// Reads the configuration from file, environment variables and options. Returns the
  /// configuration, and the source of each value.
  ///
  /// - Parameters:
  ///   - arguments: The words of the command.
  ///   - files: Whether the function also checks the files that the configuration names, as a
  ///     server does when it starts.
  /// - Throws: `ConfigurationMistakes` with all mistakes; `UsageError` for an option with an
  ///   invalid value.
  static func configuration(
    _ arguments: Arguments, files: Bool = false
  ) throws -> (configuration: ServerConfiguration, sources: ConfigurationSources) {
    let (configuration, sources, mistakes) = try readWhatCan(arguments)
    let inFiles = files ? configuration.fileMistakes(from: sources) : []
    if let mistakes = ConfigurationMistakes(mistakes + inFiles) { throw mistakes }
    return (configuration, sources)
  }

  /// Reads the configuration without stopping at a mistake. Returns the configuration with all
  /// valid values, the source of each value, and all mistakes.
  ///
  /// - Throws: `UsageError` for an option with an invalid value.
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

  /// Returns the contents of the configuration file; `nil` if the user names none and there is no
  /// `server.json` in the data directory.
  private static func file(
    _ arguments: Arguments
  ) throws(ConfigurationError) -> ConfigurationSources? {
    let named =
      arguments.string("config") ?? ProcessInfo.processInfo.environment["PETREL_CONFIG"]
    let file = named ?? directory(arguments) + "/server.json"
    guard named != nil || FileManager.default.fileExists(atPath: file) else { return nil }
    return try ConfigurationSources(fileAt: file)
  }

  /// The options override file and environment.
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
