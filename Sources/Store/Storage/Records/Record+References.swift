import CloudKitModel

extension Record {
  /// The names of the records whose deletion deletes this one: the targets of its `deleteSelf`
  /// references.
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
  /// The references of a reference field or a list of references.
  var references: [Reference] {
    switch self {
    case .reference(let reference): [reference]
    case .list(.reference, let elements): elements.flatMap(\.references)
    case .string, .int64, .double, .timestamp, .bytes, .location, .asset, .list: []
    }
  }
}
