import Logging
import OpenIDConnect
import Settings

extension ConfigurationSources {
  /// Applies the values of the files, variables and options to a configuration. A setting without a
  /// value in these sources stays unchanged.
  ///
  /// - Throws: `ConfigurationError` with the place, the key and the rule. An unknown key is an
  ///   error too. The configuration may then be changed in part.
  public func apply(to configuration: inout ServerConfiguration) throws(ConfigurationError) {
    try ConfigurationReader(self, path: []).apply(ServerConfiguration.settings, to: &configuration)
  }
}

extension ServerConfiguration {
  /// Applies a configuration file. A relative file name in the file starts at the file's directory.
  ///
  /// - Throws: `ConfigurationError` with the file, the key and the rule.
  public mutating func apply(fileAt path: String) throws(ConfigurationError) {
    try ConfigurationSources(fileAt: path).apply(to: &self)
  }
}

extension ConfigurationKey {
  /// The keys of the outermost object.
  static var all: [ConfigurationKey] { ServerConfiguration.settings.keys }
}

extension ServerConfiguration.ProductionSchema: SettingValue {}
extension ServerLog.Level: SettingValue {}
extension ServerLog.Format: SettingValue {}
extension IssuerSettings.ResponseMode: SettingValue {}
