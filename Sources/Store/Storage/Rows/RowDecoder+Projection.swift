import CloudKitModel

/// The parts of a record that a query's filters and sort keys need. A search decodes only them of
/// each *candidate*, a record that may match. It decodes the whole record later, if the record is
/// on the page.
struct RecordProjection {
  private(set) var fields: Set<String>? = []
  /// The names as UTF-8, compared without making a `String` of each in a row; nil for all fields.
  private let names: [(bytes: [UInt8], name: String)]?
  var hasStamps = false
  var hasReferences = false
  /// The change tag costs an encryption.
  var hasChangeTag = false

  static let everything = RecordProjection()

  private init() {
    fields = nil
    names = nil
    hasStamps = true
    hasReferences = true
    hasChangeTag = true
  }

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

  fileprivate func decodeName(_ decoder: inout RowDecoder) throws -> String? {
    guard let names else { return try decoder.decodeText() }
    let bytes = try decoder.take(try decoder.decodeCount())
    return names.first { $0.bytes.elementsEqual(bytes) }?.name
  }
}

extension RowDecoder {
  /// Skips other parts. The change tag is not in these bytes, and stays as it is.
  mutating func decode(_ projection: RecordProjection, into record: inout Record) throws {
    if projection.hasStamps {
      record.created = try decodeOptional { try Record.Stamp(from: &$0) }
      record.modified = try decodeOptional { try Record.Stamp(from: &$0) }
    } else {
      for _ in 0..<2 where try decodeFlag() { try skipStamp() }
    }
    if projection.hasReferences {
      record.parent = try decodeOptional { try Reference(from: &$0) }
      record.share = try decodeOptional { try Reference(from: &$0) }
    } else {
      for _ in 0..<2 where try decodeFlag() { try skipReference() }
    }
    let count = try decodeCount()
    if projection.fields == nil { record.fields.reserveCapacity(min(count, 64)) }
    for _ in 0..<count {
      guard let name = try projection.decodeName(&self) else {
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
    let form = try ValueForm(from: &self)
    for _ in 0..<(form.type.isList ? try decodeCount() : 1) { try skipElement(in: form) }
  }

  private mutating func skipElement(in form: ValueForm) throws {
    switch form.type.element {
    case .string, .bytes: try skipBytes()
    case .int64: _ = try decodeInteger()
    case .timestamp:
      _ = try decodeInteger()
      if form.isPrecise { _ = try take(8) }
    case .double: _ = try take(8)
    case .location: _ = try Location(from: &self)
    case .reference: try skipReference()
    case .asset: _ = try Asset(from: &self)
    }
  }
}
