import CloudKitModel

extension Record {
  /// The names of the targets of the record's `deleteSelf` references. If one of these targets is
  /// deleted, this record is deleted with it.
  var deleteSelfTargets: Set<String> {
    var targets: Set<String> = []
    for value in fields.values {
      for reference in value.references where reference.action == .deleteSelf {
        targets.insert(reference.recordName)
      }
    }
    return targets
  }
}

extension RecordValue {
  /// The reference or references in the value: one for a reference, all elements for a list of
  /// references, none for any other value.
  var references: [Reference] {
    switch self {
    case .reference(let reference): [reference]
    case .list(.reference, let elements): elements.flatMap(\.references)
    case .string, .int64, .double, .timestamp, .bytes, .location, .asset, .list: []
    }
  }
}
