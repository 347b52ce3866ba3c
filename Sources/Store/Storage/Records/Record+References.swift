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
