import Settings

/// How one configuration differs from another.
public struct ConfigurationChange: Sendable, Hashable {
  /// The keys whose values differ, such as `limits.waitingPushes`.
  public private(set) var keys: [String] = []
  /// Those among them that count only after a restart.
  public private(set) var keysForRestart: [String] = []

  public init(from old: ConfigurationSources, to new: ConfigurationSources) {
    compare(ConfigurationKey.all, at: [], old, new)
  }

  private mutating func compare(
    _ keys: [ConfigurationKey], at path: [String], _ old: ConfigurationSources,
    _ new: ConfigurationSources
  ) {
    for key in keys {
      let path = path + [key.name]
      let values = (old.value(at: path), new.value(at: path))
      guard values.0 != values.1 else { continue }
      switch key.kind {
      case .object(let keys): compare(keys, at: path, old, new)
      case .named(let keys):
        let names = Set((values.0?.object ?? [:]).keys).union((values.1?.object ?? [:]).keys)
        for name in names.sorted() { compare(keys, at: path + [name], old, new) }
      default:
        let name = path.joined(separator: ".")
        self.keys.append(name)
        if key.needsRestart { keysForRestart.append(name) }
      }
    }
  }
}
