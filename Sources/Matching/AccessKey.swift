import CloudKitModel

/// A value as a key of a hash table: two values that `EQUALS` takes for equal have equal keys.
///
/// The opposite need not hold (references are filed by record name alone), so whatever is found
/// under a key must still be evaluated.
enum AccessKey: Hashable, Sendable {
  case text(ByteText)
  /// An integer, or a double that is a whole number in the range of integers.
  case whole(Int64)
  /// The bits of any other double.
  case fraction(UInt64)
  case timestamp(Int64)
  case place(latitude: UInt64, longitude: UInt64)
  case reference(ByteText)

  /// What hashing can do with a value.
  enum Finding: Sendable {
    case key(AccessKey)
    /// The value equals nothing, itself included.
    case equalsNothing
    /// Values of this kind are not filed.
    case notFiled
  }

  /// The key of a value of a record or of a filter on the same path.
  static func find(_ value: RecordValue, on path: AccessPath) -> Finding {
    switch value {
    case .string(let text):
      return .key(.text(ByteText(path.options.fold(text))))
    case .reference(let reference):
      // Names of records and users, which are strings, may be asked for by reference.
      if case .system = path.field {
        return .key(.text(ByteText(path.options.fold(reference.recordName))))
      }
      return .key(.reference(ByteText(reference.recordName)))
    case .int64(let int):
      return .key(.whole(int))
    case .double(let double):
      if double.isNaN { return .equalsNothing }
      return .key(Int64(exactly: double).map { .whole($0) } ?? .fraction(double.bitPattern))
    case .timestamp(let timestamp):
      return .key(.timestamp(timestamp.milliseconds))
    case .location(let location):
      if location.latitude.isNaN || location.longitude.isNaN { return .equalsNothing }
      return .key(
        .place(latitude: bits(of: location.latitude), longitude: bits(of: location.longitude)))
    case .bytes, .asset, .list:
      return .notFiled
    }
  }

  private static func bits(of coordinate: Double) -> UInt64 {
    coordinate == 0 ? 0 : coordinate.bitPattern
  }
}
