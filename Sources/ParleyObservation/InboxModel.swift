// The client's lists as observable models, for SwiftUI.
