/// The reason why a reliability test could not run. Violations that it finds are no such error.
struct TrialError: Error, CustomStringConvertible {
  var description: String

  init(_ description: String) { self.description = description }
}
