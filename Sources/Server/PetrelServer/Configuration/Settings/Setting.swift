import JSONCoding

/// What a setting declares of its key, whatever type its value has.
struct ConfigurationKey: Sendable {
  let name: String
  let kind: SettingKind
  /// Whether the object that it is in cannot be without it.
  var isRequired = false
  /// Whether a change counts only after a restart.
  var needsRestart = false
  /// What the help calls the value of the option that goes over it; nil where there is no option.
  var option: String?
  /// The name by which `server/limits` answers it; nil where clients do not learn it.
  var clientLimit: String?
  /// The default as the manual has it, where it is no constant.
  var defaultText: String?
  /// The default. ``SettingTable`` sets it.
  var defaultValue: JSONValue?
  /// What the manual says of it, in Markdown.
  let meaning: String

  /// The keys at the top.
  static var all: [ConfigurationKey] { ServerConfiguration.settings.keys }
}

/// A setting of the server, declared once: its name, what is allowed, where its value goes, and what the manual says.
///
/// Parsing, environment variables, options, `petrel config`, reloading, `server/limits` and `docs/configuration.md`
/// follow from it. Its default is that of the property.
///
/// ```swift
/// .init("drainSeconds", \.drainTime, .whole(0...300, .seconds), "The time that a server drains.")
/// ```
struct Setting<Root: Sendable>: Sendable {
  typealias Path<Value> = WritableKeyPath<Root, Value> & Sendable
  typealias Read =
    @Sendable (ConfigurationReader, inout Root) throws(ConfigurationError) -> Void

  let key: ConfigurationKey
  /// Reads the value from the object that the key is in, if it is there.
  let read: Read
  /// The value in force; nil where only the file or variable can say it.
  let shown: @Sendable (Root) -> JSONValue?

  /// A setting with one value, which goes to a property.
  init<Value: SettingValue>(
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
  static func part(
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
  static func object<Part>(
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
  static func object<Part>(
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
  static func named<Part>(
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
  func within<Whole>(_ path: WritableKeyPath<Whole, Root> & Sendable) -> Setting<Whole> {
    let (read, shown) = (read, shown)
    return Setting<Whole>(
      key,
      read: { reader, whole throws(ConfigurationError) in
        try read(reader, &whole[keyPath: path])
      },
      shown: { shown($0[keyPath: path]) })
  }
}

/// The settings of one object of the configuration.
struct SettingTable<Root: Sendable>: Sendable {
  /// What is in force when the object is empty.
  let blank: Root
  let settings: [Setting<Root>]
  let keys: [ConfigurationKey]
  /// What concerns several settings, or is more than a kind can say. Runs after all were read.
  let rules: Setting<Root>.Read

  init(
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
  func shown(_ root: Root) -> JSONValue {
    .object(
      Dictionary(
        uniqueKeysWithValues: settings.compactMap { setting in
          setting.shown(root).map { (setting.key.name, $0) }
        }))
  }
}
