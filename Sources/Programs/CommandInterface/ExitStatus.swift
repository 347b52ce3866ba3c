/// The exit statuses of the programs' commands.
package enum ExitStatus {
  /// The command succeeded.
  package static let done: Int32 = 0
  /// The command failed and printed the reason on standard error. A command that checks something
  /// exits with this status if the check failed.
  package static let failed: Int32 = 1
  /// The words of the command line are wrong (`EX_USAGE` of sysexits.h).
  package static let usage: Int32 = 64
  /// The meaning of ``usage`` in help texts.
  package static let usageMeaning = "the arguments of the command are wrong"
}
