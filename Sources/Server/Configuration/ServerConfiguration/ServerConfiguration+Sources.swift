import Logging
import OpenIDConnect
import Settings

extension ConfigurationSources {
  /// Sets a configuration up.
  ///
  /// - Throws: ``ConfigurationError`` naming the place, the key and what would be right. Unknown keys
  ///   are errors.
  public func apply(to configuration: inout ServerConfiguration) throws(ConfigurationError) {
    try ConfigurationReader(self, path: []).apply(ServerConfiguration.settings, to: &configuration)
  }
}

extension ServerConfiguration {
  /// Reads a configuration file. Relative file names are taken from its directory.
  ///
  /// - Throws: ``ConfigurationError`` naming the file, the key and what would be right.
  public mutating func apply(fileAt path: String) throws(ConfigurationError) {
    try ConfigurationSources(fileAt: path).apply(to: &self)
  }
}

extension ConfigurationKey {
  /// The keys at the top.
  static var all: [ConfigurationKey] { ServerConfiguration.settings.keys }
}

extension ServerConfiguration.ProductionSchema: SettingValue {}
extension ServerLog.Level: SettingValue {}
extension ServerLog.Format: SettingValue {}
extension IssuerSettings.ResponseMode: SettingValue {}
