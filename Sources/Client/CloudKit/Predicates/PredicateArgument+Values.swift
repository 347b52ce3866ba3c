internal import CloudKitModel
internal import PredicateLanguage

extension PredicateArgument {
  init(_ argument: Any) {
    self.init(Self.term(for: argument), typeName: "\(type(of: argument))")
  }

  /// Converts a value to the term that stands for it in a comparison.
  ///
  /// - Returns: `PredicateTerm.unsupported` for a value that CloudKit cannot compare, such as an
  ///   asset or an infinite number. The parser then reports an error that names the argument.
  static func term(for argument: Any) -> PredicateTerm {
    switch argument {
    case is NSNull: return .null
    case let record as CKRecord: return reference(to: record.recordID)
    case let id as CKRecordID: return reference(to: id)
    case let reference as CKReference: return Self.reference(to: reference.recordID)
    case let place as CLLocation:
      // A comparison uses the coordinate only.
      let coordinate = place.coordinate
      return .value(
        .location(Location(latitude: coordinate.latitude, longitude: coordinate.longitude)))
    case let float as CGFloat: return .value(.double(Double(float)))
    case let text as Substring: return .value(.string(String(text)))
    case let set as Set<AnyHashable>: return aggregate(of: set)
    case let list as [Any]: return .aggregate(list.map { term(for: $0) })
    default: break
    }
    let mirror = Mirror(reflecting: argument)
    if mirror.displayStyle == .optional {
      return mirror.children.first.map { term(for: $0.value) } ?? .null
    }
    // An unsupported term leads to an error that names the argument.
    guard let value = try? RecordValue(argument, field: "") else {
      return .unsupported("a value of type \(type(of: argument))")
    }
    if case .double(let double) = value, !double.isFinite {
      return .unsupported("the number \(double)")
    }
    return .value(value)
  }

  /// Makes the term of a reference to a record. A comparison ignores the action of a reference.
  private static func reference(to id: CKRecord.ID) -> PredicateTerm {
    .value(
      .reference(
        CloudKitModel.Reference(recordName: id.recordName, zoneID: id.zoneID.model)))
  }

  /// Makes the term of a set. The order of its elements is the same in each run of the program.
  private static func aggregate(of set: Set<AnyHashable>) -> PredicateTerm {
    let elements = set.map { term(for: $0.base) }
    return .aggregate(elements.sorted { PredicatePrinter.text($0) < PredicatePrinter.text($1) })
  }
}
