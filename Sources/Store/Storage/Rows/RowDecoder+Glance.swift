import CloudKitModel

/// The parts of a record that a query's filters and sort keys need.
///
/// A search decodes only these parts of each candidate. It decodes the whole record later, for the
/// page.
struct RecordGlance {
  /// The fields; nil means all.
  private(set) var fields: Set<String>? = []
  /// The same names as bytes, which are compared without making a `String` of each name.
  private let names: [(bytes: [UInt8], name: String)]?
  /// Whether times, users and devices of creation and modification are needed.
  var hasStamps = false
  /// Whether the parent and the share are needed.
  var hasReferences = false
  /// Whether the change tag is needed, which costs an encryption.
  var hasChangeTag = false

  /// All of a record's content.
  static let everything = RecordGlance()

  /// Creates the glance at everything.
  private init() {
    fields = nil
    names = nil
    hasStamps = true
    hasReferences = true
    hasChangeTag = true
  }

  /// Finds the parts that a query's filters and sort keys need.
  init(for query: Query) {
    for key in query.filters.map(\.key) + query.sortKeys.map(\.key) {
      switch key {
      case .field(let name): fields?.insert(name)
      case .allText: fields = nil
      case .system(.parent), .system(.share): hasReferences = true
      case .system(.recordChangeTag): hasChangeTag = true
      case .system(.recordName): break
      case .system: hasStamps = true
      }
    }
    names = fields?.map { (Array($0.utf8), $0) }
  }

  /// Decodes the name of a field; nil for one that is not needed.
  fileprivate func decodeName(_ decoder: inout RowDecoder) throws -> String? {
    guard let names else { return try decoder.decodeText() }
    let bytes = try decoder.take(try decoder.decodeCount())
    return names.first { $0.bytes.elementsEqual(bytes) }?.name
  }
}

extension RowDecoder {
  /// Decodes these parts of a record that ``RowEncoder/encodeContent(of:)`` encoded, and skips the
  /// others. It does not set the change tag, which has a column.
  mutating func decode(_ glance: RecordGlance, into record: inout Record) throws {
    if glance.hasStamps {
      record.created = try decodeOptional { try $0.decodeStamp() }
      record.modified = try decodeOptional { try $0.decodeStamp() }
    } else {
      for _ in 0..<2 where try decodeFlag() { try skipStamp() }
    }
    if glance.hasReferences {
      record.parent = try decodeOptional { try $0.decodeReference() }
      record.share = try decodeOptional { try $0.decodeReference() }
    } else {
      for _ in 0..<2 where try decodeFlag() { try skipReference() }
    }
    let count = try decodeCount()
    if glance.fields == nil { record.fields.reserveCapacity(min(count, 64)) }
    for _ in 0..<count {
      guard let name = try glance.decodeName(&self) else {
        try skipMarkedValue()
        continue
      }
      let (value, isEncrypted) = try decodeMarkedValue()
      record.fields[name] = value
      if isEncrypted { record.encryptedFields.insert(name) }
    }
  }

  /// Skips a length and as many bytes: a text or data.
  private mutating func skipBytes() throws {
    _ = try take(try decodeCount())
  }

  /// Skips the time, user and device of a creation or modification.
  private mutating func skipStamp() throws {
    _ = try decodeInteger()
    try skipBytes()
    if try decodeFlag() { try skipBytes() }
  }

  /// Skips a reference.
  private mutating func skipReference() throws {
    try skipBytes()
    if try decodeFlag() {
      try skipBytes()
      try skipBytes()
    }
    _ = try decodeByte()
  }

  /// Skips a field's value.
  private mutating func skipMarkedValue() throws {
    let type = try decodeMarkedType()
    for _ in 0..<(type.isList ? try decodeCount() : 1) { try skipContent(of: type.element) }
  }

  /// Skips the content of a single value.
  private mutating func skipContent(of type: ValueType) throws {
    switch type {
    case .string, .bytes: try skipBytes()
    case .int64, .timestamp: _ = try decodeInteger()
    case .double: _ = try take(8)
    case .location: _ = try decodeLocation()
    case .reference: try skipReference()
    case .asset: _ = try decodeAsset()
    }
  }
}
