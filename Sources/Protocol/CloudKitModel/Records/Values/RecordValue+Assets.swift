extension RecordValue {
  /// Whether the value is an asset or a list of assets.
  public var isAsset: Bool {
    switch self {
    case .asset, .list(.asset, _): true
    case .string, .int64, .double, .timestamp, .preciseTimestamp, .bytes, .location, .reference,
      .list:
      false
    }
  }

  /// The asset of an asset value, or those of a list; empty for other values.
  public var assets: [Asset] {
    switch self {
    case .asset(let asset): [asset]
    case .list(.asset, let elements): elements.flatMap(\.assets)
    case .string, .int64, .double, .timestamp, .preciseTimestamp, .bytes, .location, .reference,
      .list:
      []
    }
  }

  /// Returns the value with each asset replaced by the result of `transform`. A value without
  /// assets stays as it is.
  ///
  /// - Throws: The error of `transform`.
  public func mapAssets<Failure>(
    _ transform: (Asset) throws(Failure) -> Asset
  ) throws(Failure) -> RecordValue {
    switch self {
    case .asset(let asset): return .asset(try transform(asset))
    case .list(.asset, let elements):
      var mapped: [RecordValue] = []
      for element in elements { mapped.append(try element.mapAssets(transform)) }
      return .list(of: .asset, mapped)
    case .string, .int64, .double, .timestamp, .preciseTimestamp, .bytes, .location, .reference,
      .list:
      return self
    }
  }
}
