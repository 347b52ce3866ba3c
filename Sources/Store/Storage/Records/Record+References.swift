import CloudKitModel

extension Record {
  /// The targets of `deleteSelf` references. If one is deleted, this record is deleted with it.
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
