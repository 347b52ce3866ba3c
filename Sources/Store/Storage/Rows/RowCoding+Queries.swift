import CloudKitModel

extension Query: RowCodable {
  static let rowName: StaticString = "query"
  static let blank = Query(recordType: "")

  mutating func code<Coder: RowCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.required(1, "recordType", &recordType)
    try coder.field(2, "filters", &filters, default: [])
    try coder.field(3, "sortKeys", &sortKeys, default: [])
  }
}

extension Filter: RowCodable {
  static let rowName: StaticString = "filter"
  static let blank = Filter(.allText, .equals, nil)

  mutating func code<Coder: RowCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try key.codeCases(&coder)
    try coder.required(4, "comparator", &comparator)
    try coder.field(5, "value", &value)
    try coder.field(6, "distance", &distance)
    try coder.field(7, "options", &options, default: [])
  }
}

extension SortKey: RowCodable {
  static let rowName: StaticString = "sort key"
  static let blank = SortKey(.allText)

  mutating func code<Coder: RowCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try key.codeCases(&coder)
    try coder.field(4, "ascending", &ascending, default: true)
    try coder.field(5, "relativeLocation", &relativeLocation)
  }
}

extension FieldKey {
  /// One of three fields, with the tags 1 to 3. Other fields of the row have tags from 4 on.
  fileprivate mutating func codeCases<Coder: RowCoder>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.choice(1, "field", fieldName) { self = .field($0) }
    try coder.choice(2, "systemField", systemField) { self = .system($0) }
    try coder.choice(3, "allText", self == .allText ? true : nil) { _ in self = .allText }
    try coder.endChoice()
  }

  private var fieldName: String? {
    if case .field(let name) = self { name } else { nil }
  }

  private var systemField: SystemField? {
    if case .system(let field) = self { field } else { nil }
  }
}

extension Filter.Options: RowPart {
  static var wire: RowWire { .number }
  static var blank: Self { [] }
  func write(to encoder: inout RowEncoder) { encoder.encode(Int64(rawValue)) }

  mutating func read(from decoder: inout RowDecoder) throws {
    let value = try decoder.decodeInteger()
    guard let rawValue = UInt8(exactly: value) else {
      throw decoder.damaged("has the unknown options \(value)")
    }
    self = Filter.Options(rawValue: rawValue)
  }
}

extension Comparator: RowName {
  static let rowName: StaticString = "comparator"
  static var blank: Comparator { .equals }
}

extension SystemField: RowName {
  static let rowName: StaticString = "system field"
  static var blank: SystemField { .recordName }
}

/// A type stored by the names of its values. An unknown name is ``StoreError/Code/corrupt``.
protocol RowName: RowPart, RawRepresentable where RawValue == String {
  static var rowName: StaticString { get }
}

extension RowName {
  static var wire: RowWire { .bytes }
  func write(to encoder: inout RowEncoder) { encoder.encode(rawValue) }

  mutating func read(from decoder: inout RowDecoder) throws {
    let name = try decoder.decodeText()
    guard let value = Self(rawValue: name) else {
      throw decoder.damaged("has the unknown \(Self.rowName) '\(name)'")
    }
    self = value
  }
}

extension RowEncoder {
  mutating func encode(_ query: Query) {
    var query = query
    query.write(to: &self)
  }
}
