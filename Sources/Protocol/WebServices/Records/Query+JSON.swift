import CloudKitModel
import JSONCoding

extension Query: MessagePart {
  package init(_ reader: MessageReader) throws(ServiceError) {
    self.init(recordType: try reader.member("recordType").string())
    if let list = try reader.optional("filterBy") {
      for element in try list.elementsOrOne() { filters.append(try Filter(element)) }
    }
    if let list = try reader.optional("sortBy") {
      for element in try list.elementsOrOne() { sortKeys.append(try SortKey(element)) }
    }
    let query = self
    try reader.checked { () throws(ModelError) in try query.validate() }
  }

  package func write(to writer: inout JSONWriter, context: MessageContext) {
    writer.object { writer in
      writer.member("recordType", recordType)
      writer.key("filterBy")
      writer.array { writer in
        for filter in filters { filter.write(to: &writer, context: context) }
      }
      if !sortKeys.isEmpty {
        writer.key("sortBy")
        writer.array { writer in
          for sortKey in sortKeys { sortKey.write(to: &writer, context: context) }
        }
      }
    }
  }

  package static func schema(in scope: SchemaScope) -> JSONSchema {
    scope.named("Query") { scope in
      let filters = Filter.schema(in: scope)
      let sortKeys = JSONSchema.list(SortKey.schema(in: scope))
      return switch scope.direction {
      case .requests:
        JSONSchema.object(
          [
            "recordType": .text,
            "filterBy?": .list(filters, count: 0...ServiceLimits.filtersPerQuery),
            "sortBy?": sortKeys,
          ], isOpen: true
        ).described("A single filter or sort may stand without its list.")
      case .answers:
        .object(["recordType": .text, "filterBy": .list(filters), "sortBy?": sortKeys])
      }
    }
  }
}

extension Filter {
  /// Reads a filter. Petrel's additions: `caseInsensitive`, `diacriticInsensitive`, and token
  /// comparators without a field name, which search all string fields.
  init(_ reader: MessageReader) throws(ServiceError) {
    let name = try reader.member("comparator").string()
    guard let comparator = Comparator(wireName: name) else {
      throw reader.mistake("unknown comparator '\(name)'")
    }
    let key = try FieldKey(reader, orAllText: comparator.relation.comparesTokens)
    let fieldValue = try reader.member("fieldValue").unwrapped(for: key)
    guard fieldValue.json.object?.isEmpty != true else {
      throw fieldValue.mistake("'value' is missing")
    }
    self.init(
      key, comparator, try RecordValue.read(fieldValue),
      distance: try reader.optionalDouble("distance"))
    if try reader.optionalBool("caseInsensitive") == true { options.insert(.caseInsensitive) }
    if try reader.optionalBool("diacriticInsensitive") == true {
      options.insert(.diacriticInsensitive)
    }
  }

  func write(to writer: inout JSONWriter, context: MessageContext) {
    writer.object { writer in
      writer.member("comparator", comparator.rawValue)
      key.write(to: &writer)
      writer.key("fieldValue")
      if let value {
        value.write(to: &writer, context: context)
      } else {
        RecordValue.writeRemoval(to: &writer)
      }
      if let distance { writer.member("distance", distance) }
      if options.contains(.caseInsensitive) { writer.member("caseInsensitive", true) }
      if options.contains(.diacriticInsensitive) { writer.member("diacriticInsensitive", true) }
    }
  }

  fileprivate static func schema(in scope: SchemaScope) -> JSONSchema {
    let members: [String: JSONSchema] = [
      "comparator": JSONSchema.word(Comparator.allCases.map(\.rawValue)).described(
        "`LIST_NOT_` at the beginning is understood as `NOT_LIST_`."
      ).named("Comparator"),
      "fieldValue": RecordValue.filterSchema(in: scope),
      "distance?": JSONSchema.number.with([
        "minimum": 0, "description": "Metres: needed for NEAR, and a mistake elsewhere.",
      ]),
      "caseInsensitive?": JSONSchema.bool.described("Petrel's own."),
      "diacriticInsensitive?": JSONSchema.bool.described("Petrel's own."),
    ]
    return .object(
      members.merging(FieldKey.members) { $1 }, isOpen: scope.direction == .requests)
  }
}

extension Comparator {
  /// Some clients say `LIST_NOT_CONTAINS` for `NOT_LIST_CONTAINS`; nothing else can be meant.
  fileprivate init?(wireName: String) {
    let misplaced = "LIST_NOT_"
    guard wireName.hasPrefix(misplaced) else {
      self.init(rawValue: wireName)
      return
    }
    self.init(rawValue: "NOT_LIST_" + wireName.dropFirst(misplaced.count))
  }
}

extension MessageReader {
  /// The elements of a list. Some clients send a lone filter or sort without the list around it.
  fileprivate func elementsOrOne() throws(ServiceError) -> [MessageReader] {
    node.isObject ? [self] : try elements()
  }

  /// A filter's value without the object that cloudkit_flutter puts around values for system
  /// fields: `{ "value": { "createdTimestamp": 1 }, "type": "TIMESTAMP" }`.
  fileprivate func unwrapped(for key: FieldKey) -> MessageReader {
    guard case .system = key, case .object(var members) = json,
      let inner = members["value"]?.object, inner.count == 1, let (name, value) = inner.first,
      SystemField(anyName: name) != nil, members["type"]?.string != "REFERENCE",
      members["type"] != nil
    else { return self }
    members["value"] = value
    return MessageReader(members, insteadOf: self) ?? self
  }
}

extension SortKey {
  init(_ reader: MessageReader) throws(ServiceError) {
    self.init(
      try FieldKey(reader, orAllText: false),
      ascending: try reader.optionalBool("ascending") ?? true)
    if let location = try reader.optional("relativeLocation") {
      // CloudKit JS and OpenCloudKit send a field's value with its type.
      let value = try location.optional("value")
      relativeLocation = try Location(value ?? location)
    }
  }

  func write(to writer: inout JSONWriter, context: MessageContext) {
    writer.object { writer in
      key.write(to: &writer)
      writer.member("ascending", ascending)
      if let relativeLocation {
        writer.key("relativeLocation")
        relativeLocation.write(to: &writer, context: context)
      }
    }
  }

  fileprivate static func schema(in scope: SchemaScope) -> JSONSchema {
    let location = Location.schema(in: scope)
    let members: [String: JSONSchema] =
      switch scope.direction {
      case .requests:
        [
          "ascending?": JSONSchema.bool.with(["default": true]),
          "relativeLocation?": .any(of: [location, .object(["value": location], isOpen: true)]),
        ]
      case .answers:
        ["ascending": .bool, "relativeLocation?": location]
      }
    return .object(
      members.merging(FieldKey.members) { $1 }, isOpen: scope.direction == .requests)
  }
}

extension FieldKey {
  /// Reads `fieldName` or `systemFieldName`. System fields are also understood as field names, in
  /// the schema's style (`___recordID`) and in that of web services, as some clients send them.
  init(_ reader: MessageReader, orAllText: Bool) throws(ServiceError) {
    if let name = try reader.optionalString("systemFieldName") {
      guard let field = SystemField(anyName: name) else {
        throw reader.mistake("unknown systemFieldName '\(name)'")
      }
      self = .system(field)
    } else if let name = try reader.optionalString("fieldName") {
      if name.hasPrefix("___") || Self.systemNames.contains(name),
        let field = SystemField(anyName: name)
      {
        self = .system(field)
      } else {
        self = .field(name)
      }
    } else if orAllText {
      self = .allText
    } else {
      throw reader.mistake("'fieldName' is missing")
    }
  }

  private static let systemNames: Set<String> = [
    "recordName", "createdTimestamp", "createdUserRecordName", "modifiedTimestamp",
    "modifiedUserRecordName",
  ]

  /// The members by which a filter or a sort names its field.
  fileprivate static var members: [String: JSONSchema] {
    [
      "fieldName?": JSONSchema.text.described(
        """
        Needed, unless there is a `systemFieldName`. Petrel's own: a search for tokens without either looks \
        at all text fields.
        """),
      "systemFieldName?": JSONSchema.word(SystemField.allCases.map(\.rawValue)).described(
        """
        The names of the native client and of the schema language, such as `creationDate` and \
        `___createTime`, are understood too. As `fieldName`, those of the schema language and \
        \(systemNames.sorted().joined(separator: ", ")) are understood.
        """
      ).named("SystemFieldName"),
    ]
  }

  func write(to writer: inout JSONWriter) {
    switch self {
    case .field(let name): writer.member("fieldName", name)
    case .system(let field): writer.member("systemFieldName", field.rawValue)
    case .allText: break
    }
  }
}
