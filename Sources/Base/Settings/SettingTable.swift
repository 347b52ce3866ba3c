import JSONCoding

/// The settings of one object of the configuration.
package struct SettingTable<Root: Sendable>: Sendable {
  /// What is in force when the object is empty.
  package let blank: Root
  package let settings: [Setting<Root>]
  package let keys: [ConfigurationKey]
  /// What concerns several settings, or is more than a kind can say. Runs after all were read.
  package let rules: Setting<Root>.Read

  package init(
    _ blank: Root, _ settings: [Setting<Root>],
    rules: @escaping Setting<Root>.Read = { _, _ in }
  ) {
    (self.blank, self.settings, self.rules) = (blank, settings, rules)
    keys = settings.map { setting in
      var key = setting.key
      key.defaultValue = setting.shown(blank)
      return key
    }
  }

  /// The values in force, as an object.
  package func shown(_ root: Root) -> JSONValue {
    .object(
      Dictionary(
        uniqueKeysWithValues: settings.compactMap { setting in
          setting.shown(root).map { (setting.key.name, $0) }
        }))
  }
}
