import CloudKitModel

/// What stands for a value in points: equal for two values exactly when `EQUALS` takes them for
/// equal; but references by the name of their record alone.
struct PointValue: Hashable, Sendable {
  /// What the bytes are, so that those of different kinds are never equal.
  enum Kind: UInt32, Sendable {
    /// A text, or whatever else a path has that is no value.
    case plain, whole, fraction, timestamp, place, reference

    /// So many bits a kind has.
    static let width: UInt32 = 3
  }

  enum Finding {
    case found
    /// The value equals nothing, itself included.
    case equalsNothing
    /// Values of this kind have none.
    case unknown
  }

  var kind = Kind.plain
  var bytes: [UInt8]

  init(bytes: some Sequence<UInt8>) {
    self.bytes = Array(bytes)
  }

  init(_ number: UInt64) {
    bytes = withUnsafeBytes(of: number) { Array($0) }
  }

  init(_ zoneID: ZoneID) {
    bytes = withUnsafeBytes(of: UInt64(zoneID.zoneName.utf8.count)) { Array($0) }
    bytes += zoneID.zoneName.utf8
    bytes += zoneID.ownerName.utf8
  }

  /// Nil for a value that has none.
  init?(_ value: RecordValue, _ options: Filter.Options) {
    var made: PointValue?
    let finding = Self.visit(value, options) { bytes, kind in
      made = PointValue(bytes: bytes)
      made?.kind = kind
    }
    guard finding == .found, let made else { return nil }
    self = made
  }

  /// Shows the bytes of a value where they lie, if it has any.
  @inline(__always)
  static func visit(
    _ value: RecordValue, _ options: Filter.Options,
    _ body: (UnsafeRawBufferPointer, Kind) -> Void
  ) -> Finding {
    switch value {
    case .string(let text):
      visit(options.isEmpty ? text : options.fold(text)) { body($0, .plain) }
    case .int64(let integer):
      withUnsafeBytes(of: integer) { body($0, .whole) }
    case .double(let double):
      if double.isNaN { return .equalsNothing }
      if let whole = Int64(exactly: double) {
        withUnsafeBytes(of: whole) { body($0, .whole) }
      } else {
        withUnsafeBytes(of: double) { body($0, .fraction) }
      }
    case .timestamp(let timestamp):
      withUnsafeBytes(of: timestamp.milliseconds) { body($0, .timestamp) }
    case .location(let location):
      if location.latitude.isNaN || location.longitude.isNaN { return .equalsNothing }
      // The two zeros are equal.
      withUnsafeBytes(of: (location.latitude + 0, location.longitude + 0)) { body($0, .place) }
    case .reference(let reference):
      visit(reference.recordName) { body($0, .reference) }
    case .bytes, .asset, .list:
      return .unknown
    }
    return .found
  }

  /// Shows the UTF-8 bytes of a text.
  @inline(__always)
  static func visit<Result>(
    _ text: String, _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    var text = text
    return text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
  }

  static func precedes(_ left: PointValue, _ right: PointValue) -> Bool {
    left.kind != right.kind
      ? left.kind.rawValue < right.kind.rawValue
      : left.bytes.lexicographicallyPrecedes(right.bytes)
  }
}
