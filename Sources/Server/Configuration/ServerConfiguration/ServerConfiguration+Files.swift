import PushChannels
import Settings

extension ServerConfiguration {
  /// Returns the errors of the files that the settings of push channels name, such as the APNs key.
  /// The errors are in the alphabetical order of the settings' paths. The method reads the files as
  /// the server does when it starts.
  ///
  /// - Parameter sources: the files, variables and options that the configuration was read from.
  ///   They contain the place of each key, which becomes a part of the error.
  public func fileMistakes(from sources: ConfigurationSources) -> [ConfigurationError] {
    let checks = PushChannelRegistry.all.flatMap { $0.fileChecks(of: channelSettings) }
    return checks.sorted { $0.key.lexicographicallyPrecedes($1.key) }.compactMap { file in
      do throws(ConfigurationError) {
        try file.check()
        return nil
      } catch {
        return ConfigurationError(
          sources.place(of: file.key) + error.description, at: .key(file.key))
      }
    }
  }
}
