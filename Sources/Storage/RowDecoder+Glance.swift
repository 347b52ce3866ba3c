import CloudKitModel

/// The parts of a record that a query's filters and sort keys look at.
struct RecordGlance {
  /// The fields; nil means all.
  var fields: Set<String>? = []
  var hasStamps = false
  var hasReferences = false

  init(for query: Query) {
    for key in query.filters.map(\.key) + query.sortKeys.map(\.key) {
      switch key {
      case .field(let name): fields?.insert(name)
      case .allText: fields = nil
      case .system(.parent), .system(.share): hasReferences = true
      case .system(.recordName), .system(.recordChangeTag): break
      case .system: hasStamps = true
      }
    }
  }
}

extension RowDecoder {
  /// Reads these parts of what ``RowEncoder/encodeContent(of:)`` wrote into a record, and passes over
  /// the others.
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
    for _ in 0..<(try decodeCount()) {
      let name = try decodeText()
      guard glance.fields?.contains(name) ?? true else {
        try skipMarkedValue()
        continue
      }
      let (value, isEncrypted) = try decodeMarkedValue()
      record.fields[name] = value
      if isEncrypted { record.encryptedFields.insert(name) }
    }
  }

  private mutating func skipBytes() throws {
    _ = try take(try decodeCount())
  }

  private mutating func skipStamp() throws {
    _ = try decodeInteger()
    try skipBytes()
    if try decodeFlag() { try skipBytes() }
  }

  private mutating func skipReference() throws {
    try skipBytes()
    if try decodeFlag() {
      try skipBytes()
      try skipBytes()
    }
    _ = try decodeByte()
  }

  private mutating func skipMarkedValue() throws {
    let type = try decodeMarkedType()
    for _ in 0..<(type.isList ? try decodeCount() : 1) { try skipContent(of: type.element) }
  }

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
