/// Why a trial could not be carried out; not what it finds.
struct TrialError: Error, CustomStringConvertible {
  var description: String

  init(_ description: String) { self.description = description }
}
