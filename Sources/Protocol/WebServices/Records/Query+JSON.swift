import CloudKitModel
import JSONCoding

/// The query dictionary of Apple's reference.
///
/// ```
/// { "recordType": "Note",
///   "filterBy": [ { "fieldName": "rank", "comparator": "GREATER_THAN",
///                   "fieldValue": { "value": 3 } } ],
///   "sortBy": [ { "fieldName": "title", "ascending": true } ] }
/// ```
extension Query: MessagePart {
  /// Reads and validates a query. A single filter or sort without a list is accepted too, because
  /// some clients send it so.
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

  /// The schema of a query. Requests may leave out `filterBy`; answers always have it.
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
        ).described("`filterBy` and `sortBy` may be one object instead of a list.")
      case .answers:
        .object(["recordType": .text, "filterBy": .list(filters), "sortBy?": sortKeys])
      }
    }
  }
}

extension Filter {
  /// Petrel adds the members `caseInsensitive` and `diacriticInsensitive`. Petrel also accepts a
  /// search for words without a field name, which searches all string fields.
  init(_ reader: MessageReader) throws(ServiceError) {
    let name = try reader.member("comparator").string()
    guard let comparator = Comparator(wireName: name) else {
      throw reader.mistake(
        "unknown comparator '\(name)'; known are "
          + Comparator.allCases.map(\.rawValue).joined(separator: ", "))
    }
    let key = try FieldKey(reader, orAllText: comparator.relation.comparesTokens)
    let fieldValue = try reader.member("fieldValue").unwrapped(for: key)
    guard fieldValue.json.object?.isEmpty != true else {
      throw fieldValue.mistake("'value' is missing")
    }
    var value = try RecordValue.read(fieldValue)
    if case .system = key { value = value?.namingCaller(in: reader.context) }
    self.init(
      key, comparator, value,
      distance: try reader.optionalDouble("distance"))
    if try reader.optionalBool("caseInsensitive") == true { options.insert(.caseInsensitive) }
    if try reader.optionalBool("diacriticInsensitive") == true {
      options.insert(.diacriticInsensitive)
    }
  }

  /// Writes the filter. A filter without a value has `{ "value": null }`.
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
        "A name that begins with `LIST_NOT_` means the same as with `NOT_LIST_`."
      ).named("Comparator"),
      "fieldValue": RecordValue.filterSchema(in: scope),
      "distance?": JSONSchema.number.with([
        "minimum": 0,
        "description": "Metres. Required for NEAR, and an error for the other comparators.",
      ]),
      "caseInsensitive?": JSONSchema.bool.described("Petrel's own."),
      "diacriticInsensitive?": JSONSchema.bool.described("Petrel's own."),
    ]
    return .object(
      members.merging(FieldKey.members) { $1 }, isOpen: scope.direction == .requests)
  }
}

extension RecordValue {
  /// Returns the value of a filter on a system field, in which the caller may stand under the name
  /// of the "current owner", with the caller's record name.
  fileprivate func namingCaller(in context: MessageContext) -> RecordValue {
    switch self {
    case .string(let name): .string(context.modelName(name))
    case .list(let element, let values):
      .list(of: element, values.map { $0.namingCaller(in: context) })
    default: self
    }
  }
}

extension Comparator {
  /// Creates the comparator with this name. The beginning `LIST_NOT_` means the same as
  /// `NOT_LIST_`, because some clients write `LIST_NOT_CONTAINS`.
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
  /// Returns the elements of a list. An object in the place of the list counts as a list with this
  /// one element.
  fileprivate func elementsOrOne() throws(ServiceError) -> [MessageReader] {
    node.isObject ? [self] : try elements()
  }

  /// Returns a filter's value without the object that cloudkit_flutter puts around the value of a
  /// system field:
  ///
  ///     { "value": { "createdTimestamp": 1 }, "type": "TIMESTAMP" }
  ///
  /// Any other value stays as it is.
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
  /// Reads a sort key, which is ascending by default.
  init(_ reader: MessageReader) throws(ServiceError) {
    self.init(
      try FieldKey(reader, orAllText: false),
      ascending: try reader.optionalBool("ascending") ?? true)
    if let location = try reader.optional("relativeLocation") {
      // CloudKit JS and OpenCloudKit send the location as a field's value with its type.
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
  /// Reads `fieldName` or `systemFieldName`.
  ///
  /// Some clients send system fields as `fieldName`. Therefore `fieldName` may also be a name of
  /// the schema language, such as `___recordID`, or one of the web-services names in `systemNames`.
  ///
  /// - Parameter orAllText: Whether an object without a name means all string fields.
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

  /// The web-services names that mean a system field also when they are in `fieldName`.
  private static let systemNames: Set<String> = [
    "recordName", "createdTimestamp", "createdUserRecordName", "modifiedTimestamp",
    "modifiedUserRecordName",
  ]

  fileprivate static var members: [String: JSONSchema] {
    [
      "fieldName?": JSONSchema.text.described(
        """
        Required without a `systemFieldName`. Petrel's own: a search for tokens with neither of them looks \
        at all text fields.
        """),
      "systemFieldName?": JSONSchema.word(SystemField.allCases.map(\.rawValue)).described(
        """
        The names of the native client and of the schema language, such as `creationDate` and \
        `___createTime`, are also accepted. `fieldName` accepts the names of the schema language and \
        \(systemNames.sorted().joined(separator: ", ")).
        """
      ).named("SystemFieldName"),
    ]
  }

  /// Writes the name of the field as a member of the current object. ``allText`` has no such
  /// member.
  func write(to writer: inout JSONWriter) {
    switch self {
    case .field(let name): writer.member("fieldName", name)
    case .system(let field): writer.member("systemFieldName", field.rawValue)
    case .allText: break
    }
  }
}
