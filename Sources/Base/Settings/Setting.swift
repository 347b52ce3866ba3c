import JSONCoding

/// A setting of the server, declared once: its name, what is allowed, where its value goes, and what the manual says.
///
/// Parsing, environment variables, options, `petrel config`, reloading, `server/limits` and `docs/configuration.md`
/// follow from it. Its default is that of the property.
///
/// ```swift
/// .init("drainSeconds", \.drainTime, .whole(0...300, .seconds), "The time that a server drains.")
/// ```
package struct Setting<Root: Sendable>: Sendable {
  package typealias Path<Value> = WritableKeyPath<Root, Value> & Sendable
  package typealias Read =
    @Sendable (ConfigurationReader, inout Root) throws(ConfigurationError) -> Void

  package let key: ConfigurationKey
  /// Reads the value from the object that the key is in, if it is there.
  package let read: Read
  /// The value in force; nil where only the file or variable can say it.
  package let shown: @Sendable (Root) -> JSONValue?

  /// A setting with one value, which goes to a property.
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

  /// A setting that is checked here, and that the rules of its table read.
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

  /// An object of settings that is always there.
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

  /// An object of settings without which something is turned off.
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

  /// Objects of settings by names of the operator's own.
  ///
  /// - Parameter complaint: what is wrong with a name; nil when it is allowed.
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

  /// The same setting of what a part belongs to.
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
