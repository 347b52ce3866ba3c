import CloudKitModel

/// The bytes of a value in a *point*: a fact that a record can have, such as "`author` is ann".
///
/// Two values have equal bytes and kinds exactly when `EQUALS` considers them equal. References are
/// an exception: their bytes are only the record name, without the zone.
struct PointValue: Hashable, Sendable {
  /// The kind of the bytes. Values of different kinds are never equal.
  enum Kind: UInt32, Sendable {
    /// A text, a whole number, a fraction, a timestamp in milliseconds, a place or a reference.
    /// `plain` also stands for the bytes of a path that are no value, such as a cell.
    case plain, whole, fraction, timestamp, place, reference

    /// The number of bits of a kind's raw value.
    static let width: UInt32 = 3
  }

  /// The result of ``visit(_:_:_:)``.
  enum Finding {
    /// The value has bytes, and the closure was called.
    case found
    /// The value equals nothing, not even itself: a NaN, or a place with a NaN.
    case equalsNothing
    /// Values of this type have no bytes in points: byte strings, assets and lists.
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

  /// Creates a plain value from a zone: the length of the zone name, the zone name and the owner
  /// name.
  init(_ zoneID: ZoneID) {
    bytes = withUnsafeBytes(of: UInt64(zoneID.zoneName.utf8.count)) { Array($0) }
    bytes += zoneID.zoneName.utf8
    bytes += zoneID.ownerName.utf8
  }

  /// Creates the bytes of a record value; `nil` if ``visit(_:_:_:)`` does not return
  /// ``Finding/found``.
  init?(_ value: RecordValue, _ options: Filter.Options) {
    var made: PointValue?
    let finding = Self.visit(value, options) { bytes, kind in
      made = PointValue(bytes: bytes)
      made?.kind = kind
    }
    guard finding == .found, let made else { return nil }
    self = made
  }

  /// Calls `body` with the bytes of a record value where they are stored, without a copy.
  ///
  /// A double without a fraction has the bytes of the integer. The pointer is valid only during the
  /// call.
  ///
  /// - Returns: ``Finding/found`` if `body` was called; otherwise the reason why the value has no
  ///   bytes.
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
      // The addition of 0 turns a negative zero into a positive one. The two are equal, so they
      // must have the same bytes.
      withUnsafeBytes(of: (location.latitude + 0, location.longitude + 0)) { body($0, .place) }
    case .reference(let reference):
      visit(reference.recordName) { body($0, .reference) }
    case .bytes, .preciseTimestamp, .asset, .list:
      return .unknown
    }
    return .found
  }

  /// Calls `body` with the UTF-8 bytes of a text. The pointer is valid only during the call.
  @inline(__always)
  static func visit<Result>(
    _ text: String, _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    var text = text
    return text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
  }

  /// Whether one value is before another: by kind, then by bytes.
  static func precedes(_ left: PointValue, _ right: PointValue) -> Bool {
    left.kind != right.kind
      ? left.kind.rawValue < right.kind.rawValue
      : left.bytes.lexicographicallyPrecedes(right.bytes)
  }
}
