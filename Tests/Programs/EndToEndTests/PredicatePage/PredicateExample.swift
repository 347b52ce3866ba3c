import CloudKit
import CloudKitModel

/// One predicate of the page, as an app and as Web Services write it.
struct PredicateExample {
  var format: String
  var arguments: [(name: String, value: Any)] = []
  /// The filters that Web Services send for the predicate; `nil` if they cannot express it.
  var filters: [Filter]?
  /// Whether a query with it finds the sample record.
  var findsSample = true

  var predicate: NSPredicate {
    NSPredicate(format: format, argumentArray: arguments.map(\.value))
  }

  /// The predicate as Swift code.
  var code: String {
    let format = format.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    let names = arguments.map { ", \($0.name)" }.joined()
    return "NSPredicate(format: \"\(format)\"\(names))"
  }
}

/// An operator, and its example for a field of any type.
struct PredicateOperatorExamples {
  /// As formats write it.
  var name: String
  /// As Web Services name it.
  var comparator: String
  var example: (SampleField) -> PredicateExample

  /// The right side of a comparison.
  private enum Operand {
    case value(SampleValue)
    case list([SampleValue])

    var format: String {
      switch self {
      case .value(let value): value.format
      case .list(let values): "{\(values.map(\.format).joined(separator: ", "))}"
      }
    }

    var arguments: [(name: String, value: Any)] {
      switch self {
      case .value(let value): [value.argument].compactMap(\.self)
      case .list(let values): values.compactMap(\.argument)
      }
    }

    func model(_ type: ValueType) -> RecordValue {
      switch self {
      case .value(let value): value.model
      case .list(let values): .list(of: type, values.map(\.model))
      }
    }
  }

  /// - Parameters:
  ///   - format: with `#` where the field stands.
  ///   - operand: what is compared with.
  private static func make(
    _ name: String, _ comparator: CloudKitModel.Comparator, _ format: String,
    options: Filter.Options = [], _ operand: @escaping (SampleField) -> Operand
  ) -> PredicateOperatorExamples {
    PredicateOperatorExamples(name: name, comparator: comparator.rawValue) { field in
      let operand = operand(field)
      return PredicateExample(
        format: format.replacing("#", with: field.name) + operand.format,
        arguments: operand.arguments,
        filters: [
          Filter(
            .field(field.name), comparator, operand.model(field.type.element), options: options)
        ])
    }
  }

  /// The operand of a comparison with the whole field, whose list has two elements.
  private static func whole(
    _ value: KeyPath<SampleField, SampleValue>
  ) -> @Sendable (SampleField) -> Operand {
    nonisolated(unsafe) let value = value
    return { field in
      field.type.isList
        ? .list([field[keyPath: value], field.high]) : .value(field[keyPath: value])
    }
  }

  private static var words: SampleValue { .literal("'suva'", "suva", .string("suva")) }

  static var all: [PredicateOperatorExamples] {
    [
      make("==", .equals, "# == ", whole(\.own)),
      make("==[cd]", .equals, "# ==[cd] ", options: [.caseInsensitive, .diacriticInsensitive]) {
        $0.type == FieldType(.string) ? .value(words) : whole(\.own)($0)
      },
      make("!=", .notEquals, "# != ", whole(\.low)),
      make("<", .lessThan, "# < ", whole(\.high)),
      make("<=", .lessThanOrEquals, "# <= ", whole(\.own)),
      make(">", .greaterThan, "# > ", whole(\.low)),
      make(">=", .greaterThanOrEquals, "# >= ", whole(\.own)),
      between,
      make("IN", .isIn, "# IN ") { .list([$0.own, $0.high]) },
      make("NOT … IN", .notIn, "NOT # IN ") { .list([$0.low, $0.high]) },
      make("BEGINSWITH", .beginsWith, "# BEGINSWITH ") { .value(prefix(of: $0)) },
      make("NOT … BEGINSWITH", .notBeginsWith, "NOT # BEGINSWITH ") { .value($0.low) },
      make("CONTAINS", .listContains, "# CONTAINS ") { .value($0.own) },
      make("NOT … CONTAINS", .notListContains, "NOT # CONTAINS ") { .value($0.low) },
      make("CONTAINS {…}", .listContainsAll, "# CONTAINS ") { .list([$0.own, $0.high]) },
      make("NOT … CONTAINS {…}", .notListContainsAll, "NOT # CONTAINS ") {
        .list([$0.low, $0.own])
      },
      make("ANY … IN", .listContainsAny, "ANY # IN ") { .list([$0.low, $0.own]) },
      make("NOT ANY … IN", .notListContainsAny, "NOT ANY # IN ") { .list([$0.low]) },
      make("ANY … BEGINSWITH", .listMemberBeginsWith, "ANY # BEGINSWITH ") {
        .value(prefix(of: $0))
      },
      make("NOT ANY … BEGINSWITH", .notListMemberBeginsWith, "NOT ANY # BEGINSWITH ") {
        .value($0.low)
      },
      make("TOKENMATCHES", .containsAllTokens, "# TOKENMATCHES[cdl] ") { _ in .value(words) },
      anyToken, near,
    ]
  }

  private static func prefix(of field: SampleField) -> SampleValue {
    field.type.element == .string ? .literal("'Su'", "Su", .string("Su")) : field.own
  }

  private static var between: PredicateOperatorExamples {
    let comparators: [CloudKitModel.Comparator] = [.greaterThanOrEquals, .lessThanOrEquals]
    return PredicateOperatorExamples(
      name: "BETWEEN", comparator: comparators.map(\.rawValue).joined(separator: " and ")
    ) { field in
      let bounds = [field.low, field.high]
      let operand = Operand.list(bounds)
      return PredicateExample(
        format: "\(field.name) BETWEEN \(operand.format)", arguments: operand.arguments,
        filters: zip(comparators, bounds).map { Filter(.field(field.name), $0, $1.model) })
    }
  }

  private static var anyToken: PredicateOperatorExamples {
    PredicateOperatorExamples(
      name: "ANY tokenize:using:", comparator: CloudKitModel.Comparator.containsAnyTokens.rawValue
    ) { field in
      PredicateExample(
        format: "ANY tokenize:using:('suva apia', 'Cdl') IN \(field.name)",
        filters: [Filter(.field(field.name), .containsAnyTokens, .string("suva apia"))])
    }
  }

  private static var near: PredicateOperatorExamples {
    PredicateOperatorExamples(
      name: "distanceToLocation:fromLocation:",
      comparator: CloudKitModel.Comparator.near.rawValue
    ) { field in
      let suva = CLLocation(latitude: -18.14, longitude: 178.44)
      return PredicateExample(
        format: "distanceToLocation:fromLocation:(\(field.name), %@) < 5000",
        arguments: [("suva", suva)],
        filters: [
          Filter(
            .field(field.name), .near,
            .location(Location(latitude: -18.14, longitude: 178.44)), distance: 5000)
        ])
    }
  }
}

extension PredicateExample {
  /// Predicates that are not an operator on a field of some type.
  ///
  /// - Parameter user: the name of the record's creator.
  static func others(user: String) -> [PredicateExample] {
    let id = CKRecord.ID(recordName: "sample")
    let then = Date(timeIntervalSince1970: 978_307_200)
    return [
      PredicateExample(
        format: "string == 'Suva' AND int64 > 5",
        filters: [
          Filter(.field("string"), .equals, .string("Suva")),
          Filter(.field("int64"), .greaterThan, .int64(5)),
        ]),
      PredicateExample(
        format: "NOT string == 'Apia'",
        filters: [Filter(.field("string"), .notEquals, .string("Apia"))]),
      PredicateExample(
        format: "NOT int64 < 5",
        filters: [Filter(.field("int64"), .greaterThanOrEquals, .int64(5))]),
      PredicateExample(
        format: "5 < int64", filters: [Filter(.field("int64"), .greaterThan, .int64(5))]),
      PredicateExample(
        format: "int64 < 7.5", filters: [Filter(.field("int64"), .lessThan, .double(7.5))]),
      PredicateExample(
        format: "self CONTAINS 'suva'",
        filters: [Filter(.allText, .containsAllTokens, .string("suva"))]),
      PredicateExample(
        format: "ANY tokenize:using:('suva apia', 'Cdl') IN allTokens",
        filters: [Filter(.allText, .containsAnyTokens, .string("suva apia"))]),
      PredicateExample(format: "TRUEPREDICATE", filters: []),
      PredicateExample(format: "FALSEPREDICATE", filters: [.never], findsSample: false),
      PredicateExample(
        format: "recordID == %@", arguments: [("recordID", id)],
        filters: [Filter(.system(.recordName), .equals, .string("sample"))]),
      PredicateExample(
        format: "recordID IN {%@}", arguments: [("recordID", id)],
        filters: [Filter(.system(.recordName), .isIn, .list(of: .string, [.string("sample")]))]),
      PredicateExample(
        format: "creationDate > %@", arguments: [("earlier", then)],
        filters: [Filter(.system(.createdTimestamp), .greaterThan, .timestamp(Timestamp(then)))]),
      PredicateExample(
        format: "modificationDate > %@", arguments: [("earlier", then)],
        filters: [
          Filter(.system(.modifiedTimestamp), .greaterThan, .timestamp(Timestamp(then)))
        ]),
      PredicateExample(
        format: "creatorUserRecordID == %@",
        arguments: [("userRecordID", CKRecord.ID(recordName: user))],
        filters: [Filter(.system(.createdUserRecordName), .equals, .string(user))]),
      PredicateExample(
        format: "parent == %@", arguments: [("recordID", id)],
        filters: [
          Filter(
            .system(.parent), .equals,
            .reference(CloudKitModel.Reference(recordName: "sample", zoneID: .default)))
        ], findsSample: false),
      PredicateExample(format: "date < now()"),
      PredicateExample(format: "string == 'Suva' OR int64 > 5"),
      PredicateExample(format: "NOT (string == 'Suva' AND int64 > 5)"),
      PredicateExample(format: "NOT int64 BETWEEN {1, 2}"),
      PredicateExample(format: "NOT self CONTAINS 'apia'"),
      PredicateExample(
        format: "string == nil", filters: [Filter(.field("string"), .equals, nil)],
        findsSample: false),
      PredicateExample(
        format: "string != nil", filters: [Filter(.field("string"), .notEquals, nil)]),
      PredicateExample(format: "int64 < double"),
      PredicateExample(format: "string ENDSWITH 'va'"),
      PredicateExample(format: "string LIKE 'S*'"),
      PredicateExample(format: "string MATCHES 'S.*'"),
      PredicateExample(format: "ALL int64s > 5"),
      PredicateExample(format: "ANY int64s > 5"),
      PredicateExample(format: "SUBQUERY(int64s, $x, $x > 5).@count > 0"),
      PredicateExample(format: "reference.string == 'Suva'"),
      PredicateExample(
        format: "distanceToLocation:fromLocation:(location, %@) > 5000",
        arguments: [("suva", CLLocation(latitude: -18.14, longitude: 178.44))]),
    ]
  }
}
