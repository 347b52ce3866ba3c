import JSONCoding

/// The declaration of one setting of the server: its name, the allowed values, the property that
/// gets the value, and the sentence about it in the manual.
///
/// Parsing, environment variables, command-line options, `petrel config`, reloading,
/// `server/limits` and `docs/reference/configuration.md` use the declaration. The default is the
/// initial value of the property. `Root` is the type that has the property.
///
/// ```swift
/// .init("drainSeconds", \.drainTime, .whole(0...300, .seconds), "The time that a server drains.")
/// ```
package struct Setting<Root: Sendable>: Sendable {
  package typealias Path<Value> = WritableKeyPath<Root, Value> & Sendable
  /// A function that reads values of a configuration's object and sets properties of a `Root`.
  package typealias Read =
    @Sendable (ConfigurationReader, inout Root) throws(ConfigurationError) -> Void

  package let key: ConfigurationKey
  /// Sets the property from the key's object. Changes nothing if the key is missing.
  package let read: Read
  /// Returns the value in force. `nil` if the value as it was given should be shown instead, as for
  /// paths, or if there is no value.
  package let shown: @Sendable (Root) -> JSONValue?

  /// Declares a setting with one value for one property. ``ConfigurationKey`` has the details.
  ///
  /// Without `shown`, the shown value is the property's, or `nil` for the name of a file or folder.
  package init<Value: SettingValue>(
    _ name: String, _ path: Path<Value>, _ kind: SettingKind, required: Bool = false,
    restart: Bool = false, option: String? = nil,
    clientLimit: String? = nil, default defaultText: String? = nil,
    shown: (@Sendable (Root) -> JSONValue?)? = nil, _ meaning: String
  ) {
    let key = ConfigurationKey(
      name: name, kind: kind, isRequired: required, needsRestart: restart, option: option,
      clientLimit: clientLimit, defaultText: defaultText, meaning: meaning)
    self.key = key
    self.shown = shown ?? { kind.isPath ? nil : $0[keyPath: path].setting }
    read = { reader, root throws(ConfigurationError) in
      guard let json = try reader.value(of: key) else { return }
      guard let value = Value.of(setting: json) else {
        throw reader.mistake(name, "'\(name)' cannot have this value")
      }
      root[keyPath: path] = value
    }
  }

  private init(
    _ key: ConfigurationKey, read: @escaping Read,
    shown: @escaping @Sendable (Root) -> JSONValue?
  ) {
    (self.key, self.read, self.shown) = (key, read, shown)
  }

  /// Declares a setting whose value is checked here but sets no property. ``SettingTable/rules``
  /// read the value.
  package static func part(
    _ name: String, _ kind: SettingKind, restart: Bool = false, option: String? = nil,
    default defaultText: String? = nil,
    shown: @escaping @Sendable (Root) -> JSONValue? = { _ in nil }, _ meaning: String
  ) -> Setting {
    let key = ConfigurationKey(
      name: name, kind: kind, needsRestart: restart, option: option, defaultText: defaultText,
      meaning: meaning)
    return Setting(
      key, read: { reader, _ throws(ConfigurationError) in _ = try reader.value(of: key) },
      shown: shown)
  }

  /// Declares an object of settings for a property that is never `nil`.
  package static func object<Part>(
    _ name: String, _ path: Path<Part>, _ table: SettingTable<Part>, _ meaning: String
  ) -> Setting {
    Setting(
      ConfigurationKey(name: name, kind: .object(table.keys), meaning: meaning),
      read: { reader, root throws(ConfigurationError) in
        try reader.object(name)?.apply(table, to: &root[keyPath: path])
      },
      shown: { table.shown($0[keyPath: path]) })
  }

  /// Declares an object of settings for an optional property, such as a feature that the object
  /// turns on. If the object is missing, the property keeps its value.
  package static func object<Part>(
    _ name: String, _ path: Path<Part?>, _ table: SettingTable<Part>, default defaultText: String,
    _ meaning: String
  ) -> Setting {
    Setting(
      ConfigurationKey(
        name: name, kind: .object(table.keys), defaultText: defaultText, meaning: meaning),
      read: { reader, root throws(ConfigurationError) in
        guard let object = try reader.object(name) else { return }
        var part = root[keyPath: path] ?? table.blank
        try object.apply(table, to: &part)
        root[keyPath: path] = part
      },
      shown: { $0[keyPath: path].map(table.shown) })
  }

  /// Declares an object whose members have names that the operator chooses, such as containers.
  /// Each member is an object of settings.
  ///
  /// - Parameter complaint: returns the rule that a name breaks, as the text of an error; `nil`
  ///   when the name is allowed.
  package static func named<Part>(
    _ name: String, _ path: Path<[String: Part]>, _ table: SettingTable<Part>,
    default defaultText: String, complaint: @escaping @Sendable (String) -> String?,
    _ meaning: String
  ) -> Setting {
    Setting(
      ConfigurationKey(
        name: name, kind: .named(table.keys), defaultText: defaultText, meaning: meaning),
      read: { reader, root throws(ConfigurationError) in
        guard let list = try reader.object(name) else { return }
        for name in list.keys {
          if let complaint = complaint(name) { throw list.mistake(name, complaint) }
          try list.object(name)?.apply(
            table, to: &root[keyPath: path][name, default: table.blank])
        }
      },
      shown: { .object($0[keyPath: path].mapValues(table.shown)) })
  }

  /// Returns the same setting for a type that has a `Root` as a property.
  package func within<Whole>(_ path: WritableKeyPath<Whole, Root> & Sendable) -> Setting<Whole> {
    let (read, shown) = (read, shown)
    return Setting<Whole>(
      key,
      read: { reader, whole throws(ConfigurationError) in
        try read(reader, &whole[keyPath: path])
      },
      shown: { shown($0[keyPath: path]) })
  }
}
