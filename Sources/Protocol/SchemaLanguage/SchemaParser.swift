import CloudKitModel

/// A recursive-descent parser of schema texts, with this grammar:
///
/// ```
/// schema    = DEFINE SCHEMA { role | type }
/// role      = CREATE ROLE name ;
/// type      = RECORD TYPE name ( [ item { , item } ] ) ;
/// item      = name fieldType { option } | GRANT permission { , permission } TO name
/// fieldType = [ ENCRYPTED ] element | LIST < [ ENCRYPTED ] element > | ENCRYPTED LIST < element >
/// element   = ASSET | BYTES | DOUBLE | INT64 | LOCATION | REFERENCE | STRING | TIMESTAMP
///           | NUMBER [ PREFERRED AS ( INT64 | DOUBLE ) ]
/// option    = QUERYABLE | SORTABLE | SEARCHABLE
/// ```
///
/// Keywords may have any case. `ENCRYPTED` cannot be combined with `ASSET`, `REFERENCE` and
/// `NUMBER`. The methods for parsing throw ``SchemaSyntaxError`` for the first mistake.
struct SchemaParser {
  /// The tokens that are not consumed yet. The last token, ``SchemaToken/Kind/end``, is never
  /// consumed.
  private var tokens: ArraySlice<SchemaToken>
  var schema = ContainerSchema()
  private var declared: Set<String> = []
  /// The roles of grants, without the system's roles, each with its token for errors. The text must
  /// create each of these roles, before or after the grant.
  var customGrants: [(role: String, token: SchemaToken)] = []

  init(_ text: String) throws(SchemaSyntaxError) {
    tokens = try SchemaTokenizer.tokens(of: text)[...]
  }

  /// Parses the whole text, and checks at the end that all roles in grants exist.
  mutating func parse() throws(SchemaSyntaxError) -> ContainerSchema {
    try expect("DEFINE")
    try expect("SCHEMA")
    while current.kind != .end {
      if current.isKeyword("CREATE") {
        try parseRole()
      } else if current.isKeyword("RECORD") {
        try parseRecordType()
      } else {
        throw current.error("expected CREATE ROLE or RECORD TYPE, found \(current.shown)")
      }
    }
    for (role, token) in customGrants where !schema.roles.contains(role) {
      throw token.error("role '\(role)' is not created in this schema; add CREATE ROLE \(role);")
    }
    return schema
  }

  /// Parses `CREATE ROLE`. The name has 1 to 255 bytes without control characters, does not begin
  /// with `_`, and is not a role yet.
  private mutating func parseRole() throws(SchemaSyntaxError) {
    take()
    try expect("ROLE")
    let token = current
    let name = try takeName(as: "the name of a role")
    guard !name.hasPrefix("_") else {
      throw token.error("role '\(name)' begins with '_', which is reserved for system roles")
    }
    guard !name.isEmpty, name.utf8.count <= ServiceLimits.nameLength,
      name.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F })
    else {
      throw token.error(
        "the name of a role has 1 to \(ServiceLimits.nameLength) bytes without control characters")
    }
    guard schema.roles.insert(name).inserted else {
      throw token.error("role '\(name)' is already created")
    }
    try expect(";", after: "the role")
  }

  /// Parses `RECORD TYPE`. No type can be declared twice.
  ///
  /// The declaration of the system type `cloudkit.share` is checked and then left out: shares take
  /// every field in every environment, and the participants' permissions decide on their access.
  private mutating func parseRecordType() throws(SchemaSyntaxError) {
    take()
    try expect("TYPE")
    let token = current
    let name = try takeName(as: "the name of a record type")
    do {
      try Identifier.validateRecordType(name)
    } catch {
      throw token.error(error.reason)
    }
    guard declared.insert(name).inserted else {
      throw token.error("record type '\(name)' is already defined")
    }
    var type = ContainerSchema.RecordType(grants: RecordGrants())
    try expect("(", after: "the record type's name")
    if current.kind != .mark(")") {
      var seen: Set<String> = []
      repeat {
        try parseItem(of: name, into: &type, seen: &seen)
      } while takeIf(",")
    }
    guard takeIf(")") else {
      throw current.error("expected ',' or ')' after a field or grant, found \(current.shown)")
    }
    try expect(";", after: "the record type")
    guard name != ShareContent.recordType else { return }
    if type.grants.permissions.isEmpty { type.grants = .standard }
    schema.recordTypes[name] = type
  }

  // MARK: Tokens

  var current: SchemaToken { tokens[tokens.startIndex] }

  mutating func take() {
    if current.kind != .end { tokens.removeFirst() }
  }

  mutating func takeIf(_ mark: Unicode.Scalar) -> Bool {
    guard current.kind == .mark(mark) else { return false }
    take()
    return true
  }

  mutating func takeIf(keyword: String) -> Bool {
    guard current.isKeyword(keyword) else { return false }
    take()
    return true
  }

  mutating func expect(_ keyword: String) throws(SchemaSyntaxError) {
    guard takeIf(keyword: keyword) else {
      throw current.error("expected \(keyword), found \(current.shown)")
    }
  }

  /// Consumes this mark, or throws an error when the current token is another one.
  ///
  /// - Parameter place: The words after "after" in the error, such as "the record type's name".
  mutating func expect(
    _ mark: Unicode.Scalar, after place: String
  ) throws(SchemaSyntaxError) {
    guard takeIf(mark) else {
      throw current.error("expected '\(mark)' after \(place), found \(current.shown)")
    }
  }

  /// Consumes a name, with or without quotes. Names that need quotes must have them.
  ///
  /// - Parameter role: The words for the expected name in the error, such as "the name of a role".
  mutating func takeName(as role: String) throws(SchemaSyntaxError) -> String {
    let token = current
    switch token.kind {
    case .quoted(let name):
      take()
      return name
    case .word(let word):
      guard !SchemaName.needsQuotes(word) else {
        throw token.error(
          "expected \(role), found '\(word)'; write the name in quotes: \"\(word)\"")
      }
      take()
      return word
    case .mark, .end:
      throw token.error("expected \(role), found \(token.shown)")
    }
  }
}

/// The rules for names in double quotes.
enum SchemaName {
  private static let reserved: Set<String> = [
    "GRANT", "PREFERRED", "QUERYABLE", "SORTABLE", "SEARCHABLE",
  ]

  /// Returns whether a name needs quotes. Only a letter followed by letters, digits and `_` needs
  /// no quotes, unless the name is a reserved word.
  static func needsQuotes(_ name: String) -> Bool {
    !Identifier.isPlainName(name) || reserved.contains(name.uppercased())
  }

  static func printed(_ name: String) -> String { needsQuotes(name) ? "\"\(name)\"" : name }
}
