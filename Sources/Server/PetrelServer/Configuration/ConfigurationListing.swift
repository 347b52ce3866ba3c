import JSONCoding

/// All keys of a configuration that have a value, with where each came from.
public struct ConfigurationListing: Sendable {
  public struct Row: Sendable, Hashable {
    /// The names on the way to the key.
    public var path: [String]
    /// What is in force; of a secret, only that there is one.
    public var value: JSONValue
    /// Nil for a default.
    public var origin: ConfigurationSources.Origin?
  }

  public private(set) var rows: [Row] = []

  /// - Parameter configuration: what the sources were applied to.
  public init(of configuration: ServerConfiguration, from sources: ConfigurationSources) {
    add(ConfigurationKey.all, at: [], configuration, sources)
  }

  private mutating func add(
    _ keys: [ConfigurationKey], at path: [String], _ configuration: ServerConfiguration,
    _ sources: ConfigurationSources
  ) {
    for key in keys {
      let path = path + [key.name]
      switch key.kind {
      case .object(let keys): add(keys, at: path, configuration, sources)
      case .named(let keys):
        let names = (sources.value(at: path)?.object ?? [:]).keys.sorted()
        for name in names { add(keys, at: path + [name], configuration, sources) }
      case .text, .secret, .integer, .number, .boolean, .list:
        guard let value = key.value?(configuration) ?? sources.value(at: path) else { continue }
        let isSecret = if case .secret = key.kind { true } else { false }
        rows.append(
          Row(
            path: path, value: isSecret ? "(not shown)" : value, origin: sources.origin(of: path)))
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
