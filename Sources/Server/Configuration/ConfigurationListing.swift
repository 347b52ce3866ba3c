import JSONCoding
import Settings

/// The table of all keys that have a value, with the origin of each value.
public struct ConfigurationListing: Sendable {
  /// A key with its value and its origin.
  public struct Row: Sendable, Hashable {
    /// The names of the keys that lead to this key, and its own name, such as `limits` and
    /// `waitingPushes`. The path also contains the names of containers and issuers.
    public var path: [String]
    /// The value in force. The text `(not shown)` replaces a secret.
    public var value: JSONValue
    /// The file, variable or option that gives the value; nil for a default.
    public var origin: ConfigurationSources.Origin?
    /// The kind of contents of the file that the value names; nil if the value is no file name.
    package var file: SettingKind.FileContents?
  }

  /// The keys in the order of their declarations.
  public private(set) var rows: [Row] = []

  /// Lists a configuration.
  public init(of configuration: ServerConfiguration, from sources: ConfigurationSources) {
    add(ConfigurationKey.all, at: [], ServerConfiguration.settings.shown(configuration), sources)
  }

  /// `inForce` has the values that the server uses, defaults included; nil if the object has none.
  private mutating func add(
    _ keys: [ConfigurationKey], at path: [String], _ inForce: JSONValue?,
    _ sources: ConfigurationSources
  ) {
    for key in keys {
      let path = path + [key.name]
      let inForce = inForce?[key.name]
      switch key.kind {
      case .object(let keys): add(keys, at: path, inForce, sources)
      case .named(let keys):
        for name in (inForce?.object ?? [:]).keys.sorted() {
          add(keys, at: path + [name], inForce?[name], sources)
        }
      default:
        let given = sources.value(at: path)
        guard let value = inForce ?? given else { continue }
        var row = Row(
          path: path, value: value, origin: given.flatMap { _ in sources.origin(of: path) })
        if case .secret = key.kind { row.value = "(not shown)" }
        if case .file(let contents) = key.kind { row.file = contents }
        rows.append(row)
      }
    }
  }

  /// The table as text: one line for each key, with its name, value and origin.
  public var text: String {
    let cells = rows.map { row in
      (
        row.path.joined(separator: "."), row.value.string ?? row.value.text,
        row.origin.map { "\($0)" } ?? "default"
      )
    }
    let widths = (
      cells.map { $0.0.count }.max() ?? 0, min(40, cells.map { $0.1.count }.max() ?? 0)
    )
    func padded(_ text: String, _ width: Int) -> String {
      text + String(repeating: " ", count: max(0, width - text.count))
    }
    return cells.map { "\(padded($0.0, widths.0))  \(padded($0.1, widths.1))  \($0.2)\n" }.joined()
  }

  /// The table as a JSON array of objects. Each object has the members `key` (an array of names),
  /// `value`, `origin`, and `variable` (the name of the environment variable for the key).
  public var json: JSONValue {
    .array(
      rows.map { row in
        .object([
          "key": .array(row.path.map { .string($0) }), "value": row.value,
          "origin": .string(row.origin.map { "\($0)" } ?? "default"),
          "variable": .string(ConfigurationSources.variable(for: row.path)),
        ])
      })
  }
}
