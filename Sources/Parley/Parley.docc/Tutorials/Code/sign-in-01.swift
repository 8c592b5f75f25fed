import Parley
import ParleyObservation
import SwiftUI

struct SignInView: View {
    let session: SessionModel
    @State private var username = ""
    @State private var password = ""

    var body: some View {
        VStack {
            TextField("Name", text: $username)
            SecureField("Password", text: $password)
            if let error = session.error {
                Text(error.description)
            }
            Button("Sign in") {
                Task { await session.signIn(.password(username: username, password: password)) }
            }
            .disabled(session.isBusy)
        }
    }
}
