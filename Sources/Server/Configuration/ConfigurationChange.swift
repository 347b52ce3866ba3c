import Settings

/// The difference between two configurations. A server uses it when it reloads its configuration.
public struct ConfigurationChange: Sendable, Hashable {
  /// The names of the keys with different values, such as `limits.waitingPushes`, in the order of
  /// their declarations.
  public private(set) var keys: [String] = []
  /// The names of those keys whose new values take effect only after a restart.
  public private(set) var keysForRestart: [String] = []

  /// Compares the values from files, variables and options. A key with the same value in both
  /// configurations does not count, even if the value comes from different places.
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
