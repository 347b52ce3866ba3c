import CloudKitModel

/// Where in a record points come from, and how the bytes there are made.
struct Path: Hashable, Sendable {
  enum Shape: Hashable, Sendable {
    /// The value itself.
    case value
    /// The elements of a list.
    case element
    /// The words of a text or of a list of texts.
    case word
    /// The beginning of a text, in every length that is asked for.
    case prefix
    /// The beginnings of the texts in a list.
    case elementPrefix
    /// That there is no value.
    case absence
    /// The stretch that holds the value's ordered key, of the length 2^`level`.
    case stretch(OrderedPath.Kind, level: UInt8)
    /// The cell of a grid over the earth that holds the place.
    case cell(level: UInt8)
    /// The zone of the record, whatever the field.
    case zone
    /// Every record has it.
    case everything
  }

  var field: FieldKey
  var shape: Shape
  var options: Filter.Options = []
}

/// A field whose values are compared by their order.
struct OrderedPath: Hashable, Sendable {
  enum Kind: Hashable, Sendable {
    case number
    case timestamp
    /// By the first eight bytes of the folded text.
    case text(Filter.Options)
  }

  var field: FieldKey
  var kind: Kind
}

/// The bytes that stand for a value in points: equal for two values exactly when `EQUALS` takes them
/// for equal; but references by the name of their record alone.
enum PointBytes {
  enum Finding {
    case found
    /// The value equals nothing, itself included.
    case equalsNothing
    /// Values of this kind have none.
    case unknown
  }

  /// Puts the bytes of a value in the place of what `bytes` holds.
  static func put(
    _ value: RecordValue, _ options: Filter.Options, in bytes: inout [UInt8]
  ) -> Finding {
    bytes.removeAll(keepingCapacity: true)
    switch value {
    case .string(let text):
      bytes.append(UInt8(ascii: "s"))
      append(text, options, to: &bytes)
    case .int64(let integer):
      bytes.append(UInt8(ascii: "i"))
      append(UInt64(bitPattern: integer), to: &bytes)
    case .double(let double):
      if double.isNaN { return .equalsNothing }
      if let whole = Int64(exactly: double) {
        bytes.append(UInt8(ascii: "i"))
        append(UInt64(bitPattern: whole), to: &bytes)
      } else {
        bytes.append(UInt8(ascii: "d"))
        append(double.bitPattern, to: &bytes)
      }
    case .timestamp(let timestamp):
      bytes.append(UInt8(ascii: "t"))
      append(UInt64(bitPattern: timestamp.milliseconds), to: &bytes)
    case .location(let location):
      if location.latitude.isNaN || location.longitude.isNaN { return .equalsNothing }
      bytes.append(UInt8(ascii: "l"))
      for degrees in [location.latitude, location.longitude] {
        append(degrees == 0 ? 0 : degrees.bitPattern, to: &bytes)
      }
    case .reference(let reference):
      bytes.append(UInt8(ascii: "r"))
      append(reference.recordName, [], to: &bytes)
    case .bytes, .asset, .list:
      return .unknown
    }
    return .found
  }

  static func append(_ text: String, _ options: Filter.Options, to bytes: inout [UInt8]) {
    bytes.append(contentsOf: options.isEmpty ? text.utf8 : options.fold(text).utf8)
  }

  static func append(_ number: UInt64, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: number) { bytes.append(contentsOf: $0) }
  }

  static func put(_ zoneID: ZoneID, in bytes: inout [UInt8]) {
    bytes.removeAll(keepingCapacity: true)
    append(UInt64(zoneID.zoneName.utf8.count), to: &bytes)
    append(zoneID.zoneName, [], to: &bytes)
    append(zoneID.ownerName, [], to: &bytes)
  }
}
