/// Equality of stored values: two values are equal when they have the same type and the same
/// content.
///
/// Strings are compared byte for byte, so a composed letter and the same decomposed letter differ.
/// Filters compare values with ``RecordValue/isEqual(to:)`` instead.
extension RecordValue: Hashable {
  public static func == (left: RecordValue, right: RecordValue) -> Bool {
    switch (left, right) {
    case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
    case (.int64(let left), .int64(let right)): left == right
    case (.double(let left), .double(let right)): left == right
    case (.timestamp(let left), .timestamp(let right)): left == right
    case (.preciseTimestamp(let left), .preciseTimestamp(let right)): left == right
    case (.bytes(let left), .bytes(let right)): left == right
    case (.location(let left), .location(let right)): left == right
    case (.reference(let left), .reference(let right)): left == right
    case (.asset(let left), .asset(let right)): left == right
    case (.list(let leftElement, let left), .list(let rightElement, let right)):
      leftElement == rightElement && left == right
    case (.string, _), (.int64, _), (.double, _), (.timestamp, _), (.preciseTimestamp, _),
      (.bytes, _), (.location, _), (.reference, _), (.asset, _), (.list, _):
      false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .string(let text):
      hasher.combine(0)
      text.hashBytes(into: &hasher)
    case .int64(let integer):
      hasher.combine(1)
      hasher.combine(integer)
    case .double(let double):
      hasher.combine(2)
      hasher.combine(double)
    case .timestamp(let timestamp):
      hasher.combine(3)
      hasher.combine(timestamp)
    case .preciseTimestamp(let precise):
      hasher.combine(9)
      hasher.combine(precise)
    case .bytes(let data):
      hasher.combine(4)
      hasher.combine(data)
    case .location(let location):
      hasher.combine(5)
      hasher.combine(location)
    case .reference(let reference):
      hasher.combine(6)
      hasher.combine(reference)
    case .asset(let asset):
      hasher.combine(7)
      hasher.combine(asset)
    case .list(let element, let values):
      hasher.combine(8)
      hasher.combine(element)
      hasher.combine(values)
    }
  }
}
