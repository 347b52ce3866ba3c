import JSONCoding
import Settings

/// All keys of a configuration that have a value, with where each came from.
public struct ConfigurationListing: Sendable {
  public struct Row: Sendable, Hashable {
    /// The names on the way to the key.
    public var path: [String]
    /// What is in force; of a secret, only that there is one.
    public var value: JSONValue
    /// Nil for a default.
    public var origin: ConfigurationSources.Origin?
    /// What the file holds that the value names, if it names one.
    package var file: SettingKind.FileContents?
  }

  public private(set) var rows: [Row] = []

  /// - Parameter configuration: what the sources were applied to.
  public init(of configuration: ServerConfiguration, from sources: ConfigurationSources) {
    add(ConfigurationKey.all, at: [], ServerConfiguration.settings.shown(configuration), sources)
  }

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

  /// A line for each key: its name, value and origin.
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

  /// An array of objects with `key`, an array of names; `value`; `origin`; and `variable`, the
  /// environment variable for it.
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
