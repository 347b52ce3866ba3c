import JSONCoding

/// The settings of one object of the configuration. `Root` is the type whose properties the
/// settings set.
package struct SettingTable<Root: Sendable>: Sendable {
  /// The defaults: the values in force when the object is empty.
  package let blank: Root
  /// The settings in the order of the manual.
  package let settings: [Setting<Root>]
  package let keys: [ConfigurationKey]
  /// The checks and settings that a ``SettingKind`` cannot express, or that concern several keys.
  /// They run after all settings were read.
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

  package func shown(_ root: Root) -> JSONValue {
    .object(
      Dictionary(
        uniqueKeysWithValues: settings.compactMap { setting in
          setting.shown(root).map { (setting.key.name, $0) }
        }))
  }
}
