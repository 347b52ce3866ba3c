import PushChannels
import Settings

extension ServerConfiguration {
  /// What is wrong with the files that the configuration names, which are read as the server does
  /// when it starts; in the order of the keys that name them.
  ///
  /// - Parameter sources: tell where each is named.
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
